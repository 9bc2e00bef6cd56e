#pragma once

namespace asio_retry {

/// What a disposition says of a failure. Specialise it for your own type, which then may be the first argument
/// of an operation's completion, in place of an `error_code` or a `std::exception_ptr`.
///
///     template <>
///     struct asio_retry::failure_of<status> {
///         static bool failed(status const& s) { return !s.ok(); }
///         static error_code code(status const& s) { return make_error_code(s.error()); }
///         static failure_class classify(status const& s) { return classify_grpc(s.error()); }
///         static status make(error_code const& code) { return status::of(code); }
///     };
///
/// | function | meaning | without it |
/// |---|---|---|
/// | `failed` | whether it is a failure | by `boost::asio::disposition_traits` |
/// | `code` | the code of a failure | the code in the exception that the traits make of it |
/// | `classify` | the class of a failure | by its code, as for an `error_code` |
/// | `make` | a disposition for an error of the library, such as `timed_out` | a constructor |
///
/// Asio has the traits from Boost 1.87 and Asio 1.33 on. Where a type has them, all four functions are
/// optional. The constructor takes an `error_code` or a `std::exception_ptr`.
///
/// The functions must not throw, and `make` may be given any error. A kind `permanent` ends the operation
/// whatever `retry_if` says. A kind `none` leaves the class to the code, and so does a code that says
/// `operation_aborted`. A policy's own `classify` is not asked about a failure that has a class.
///
/// The caller gets the disposition of the last attempt unchanged, unless another error ends the operation: then
/// the caller gets what `make` returns.
template <typename Disposition>
struct failure_of {};

} // namespace asio_retry
