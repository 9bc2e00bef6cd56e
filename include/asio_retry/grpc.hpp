#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/detail/grpc/unary_call.hpp>
#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/policy/refuse.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/permanent.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/system/error_category.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/error_condition.hpp>
#include <boost/system/system_error.hpp>

#include <grpcpp/client_context.h>
#include <grpcpp/support/status.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <initializer_list>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

// Calls of gRPC as operations. This header needs gRPC's C++ library, version 1.51 or newer, which the program
// links itself.

namespace asio_retry {

namespace detail {

/// The names of gRPC's status codes; the numbers of the codes are their indices.
inline constexpr std::string_view grpc_code_names[] = {
    "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
    "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED"};

class grpc_error_category final : public boost::system::error_category {
public:
    char const* name() const noexcept override { return "grpc"; }
    std::string message(int value) const override {
        auto const index = static_cast<std::size_t>(value);
        return std::string(index < std::size(grpc_code_names) ? grpc_code_names[index] : "unknown gRPC status");
    }
    boost::system::error_condition default_error_condition(int value) const noexcept override {
        if (value == grpc::StatusCode::DEADLINE_EXCEEDED)
            return detail::timed_out_error().default_error_condition();
        if (value == grpc::StatusCode::CANCELLED)
            return detail::aborted_error().default_error_condition();
        return {value, *this};
    }
};

inline std::string text_of(grpc::Status const& status) {
    std::string text = grpc_error_category().message(status.error_code());
    return status.error_message().empty() ? text : text + ": " + status.error_message();
}

} // namespace detail

/// The category of gRPC's status codes, by which `classify` knows them.
///
/// Its DEADLINE_EXCEEDED is equivalent to `timed_out`, and CANCELLED to `operation_canceled`.
inline boost::system::error_category const& grpc_category() noexcept {
    static detail::grpc_error_category const category;
    return category;
}

/// The error code of a status: `if (e.code() == grpc_code(grpc::StatusCode::NOT_FOUND))`.
inline error_code grpc_code(grpc::StatusCode code) noexcept {
    return {static_cast<int>(code), grpc_category()};
}

/// A call that ended with another status than OK. Thrown by the operations of `grpc_unary`.
class ASIO_RETRY_DECL_TEMPLATE grpc_error : public boost::system::system_error {
public:
    /// Makes the exception of a status. Precondition: the status is not OK.
    explicit grpc_error(grpc::Status status)
        : system_error(grpc_code(status.error_code()))
        , status_(std::make_shared<grpc::Status const>(std::move(status)))
        , text_(std::make_shared<std::string const>(detail::text_of(*status_))) {}

    /// The status, with the server's message and details.
    grpc::Status const& status() const noexcept { return *status_; }

    /// The name of the code and the server's message, such as `NOT_FOUND: no such user`.
    char const* what() const noexcept override { return text_->c_str(); }

private:
    std::shared_ptr<grpc::Status const> status_; // a copy of the exception does not throw
    std::shared_ptr<std::string const> text_;
};

/// The status that an operation ended with, for callers with a callback and for servers that pass it on.
///
/// - OK for a null pointer, and that of a `grpc_error`, marked as permanent or not.
/// - DEADLINE_EXCEEDED after a time limit, CANCELLED after a cancellation, UNAVAILABLE if a gate refused.
/// - UNKNOWN for every other exception. The message is that of the exception.
inline grpc::Status grpc_status(std::exception_ptr const& e) {
    if (!e)
        return {};
    try {
        std::rethrow_exception(e);
    } catch (grpc_error const& failed) {
        return failed.status();
    } catch (permanent_error const& marked) {
        return marked.exception() ? grpc_status(marked.exception())
                                  : grpc::Status(grpc::StatusCode::UNKNOWN, marked.code().message());
    } catch (std::exception const& failed) {
        error_code const code = code_of(e);
        if (code == detail::timed_out_error())
            return {grpc::StatusCode::DEADLINE_EXCEEDED, failed.what()};
        if (code == detail::aborted_error())
            return {grpc::StatusCode::CANCELLED, failed.what()};
        bool const is_refused = code == condition::refused;
        return {is_refused ? grpc::StatusCode::UNAVAILABLE : grpc::StatusCode::UNKNOWN, failed.what()};
    } catch (...) {
        return {grpc::StatusCode::UNKNOWN, "an exception of another type"};
    }
}

/// For `retry_if`: only failures with one of some status codes, as `retryableStatusCodes` of a service config.
///
///     policy.retry_if(grpc_codes{grpc::StatusCode::UNAVAILABLE, grpc::StatusCode::ABORTED})
///
/// A time limit counts as DEADLINE_EXCEEDED. A message beyond a limit is not retried even with
/// RESOURCE_EXHAUSTED among the codes.
class grpc_codes {
public:
    /// Retries failures with these codes.
    ///
    /// g++ 12 does not compile a std::initializer_list inside a `co_await` expression: name the policy first.
    grpc_codes(std::initializer_list<grpc::StatusCode> codes) {
        for (grpc::StatusCode const code : codes)
            add(static_cast<std::size_t>(code));
    }

    /// Retries failures with codes of these names, such as `grpc_retry_policy::retryable_status_codes`.
    ///
    /// Throws std::invalid_argument for an unknown name.
    explicit grpc_codes(std::vector<std::string> const& names) {
        for (std::string const& name : names) {
            std::size_t index = 0;
            while (index != std::size(detail::grpc_code_names) && detail::grpc_code_names[index] != name)
                ++index;
            if (index == std::size(detail::grpc_code_names))
                detail::refuse("grpc_codes", name, "must be the name of a status code");
            add(index);
        }
    }

    /// Whether the error has one of the codes.
    bool operator()(error_code const& ec) const noexcept {
        if (ec.category() == grpc_category())
            return has(ec.value());
        return ec == detail::timed_out_error() && has(grpc::StatusCode::DEADLINE_EXCEEDED);
    }

private:
    void add(std::size_t index) noexcept { bits_ |= std::uint32_t(1) << (index & 31); }
    bool has(int value) const noexcept { return value >= 0 && value < 32 && (bits_ >> value & 1) != 0; }

    std::uint32_t bits_ = 0;
};

namespace detail {

/// Whether a message was beyond a limit of the client, or of a server in one of these languages. The next
/// attempt would end in the same way. If it was the response, the server has done its work.
inline bool is_too_large(grpc::Status const& status) {
    static constexpr std::string_view texts[] = {
        "message larger than max",                             // C++, Go and Python
        "gRPC message exceeds maximum size",                   // Java
        "message exceeds the maximum configured message size", // .NET
    };
    auto const is_in_message = [&](std::string_view text) {
        return status.error_message().find(text) != std::string::npos;
    };
    return status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED &&
           std::ranges::any_of(texts, is_in_message);
}

inline std::exception_ptr exception_of_status(grpc::Status const& status, bool was_cancelled) {
    if (was_cancelled && status.error_code() == grpc::StatusCode::CANCELLED)
        return exception_of(detail::aborted_error());
    try {
        grpc_error const failure(status);
        return is_too_large(status) ? std::make_exception_ptr(permanent(failure))
                                    : std::make_exception_ptr(failure);
    } catch (...) {
        return std::current_exception();
    }
}

/// The callback method of a generated stub.
template <typename Async, typename Request, typename Response>
using unary_method = void (Async::*)(grpc::ClientContext*, Request const*, Response*,
                                     std::function<void(grpc::Status)>);

/// A unary call, made anew in each attempt. Made by `grpc_unary`.
template <typename Stub, typename Async, typename Request, typename Response>
class [[nodiscard("this starts nothing: give it to async_retry or async_hedge")]] unary_operation {
public:
    /// For `grpc_unary`. `given_stub` is a pointer, possibly a shared one.
    unary_operation(Stub given_stub, unary_method<Async, Request, Response> method, Request&& request,
                    std::function<void(grpc::ClientContext&)>&& prepare)
        : stub_(std::move(given_stub))
        , method_(method)
        , request_(std::make_shared<Request const>(std::move(request)))
        , prepare_(std::move(prepare)) {}

    /// Makes one attempt.
    template <typename Token>
    auto operator()(attempt const& which, Token&& token) const {
        auto initiation = [](auto&& handler, unary_operation const& operation, attempt const& made) {
            using call_type = unary_call<Request, Response, std::decay_t<decltype(handler)>>;
            auto const call = std::make_shared<call_type>(made, operation.request_, std::move(handler));
            call->start(operation.prepare_, [&operation]<typename... Args>(Args&&... args) {
                ((*operation.stub_).async()->*operation.method_)(std::forward<Args>(args)...);
            });
        };
        return boost::asio::async_initiate<Token, void(std::exception_ptr, Response)>(initiation, token, *this,
                                                                                      which);
    }

private:
    Stub stub_;
    unary_method<Async, Request, Response> method_;
    std::shared_ptr<Request const> request_;
    std::function<void(grpc::ClientContext&)> prepare_;
};

/// A pointer to the stub, which keeps it alive if the caller's pointer shares or passes on ownership.
template <typename Stub>
auto pointer_to_stub(Stub&& stub) {
    using type = std::remove_cvref_t<Stub>;
    if constexpr (requires { stub.async(); }) {
        static_assert(std::is_lvalue_reference_v<Stub>,
                      "grpc_unary: the stub must be a variable that outlives the operation, or a pointer");
        return std::addressof(stub);
    } else if constexpr (std::is_pointer_v<type> || std::is_copy_constructible_v<type>) {
        return type(std::forward<Stub>(stub));
    } else if constexpr (std::is_lvalue_reference_v<Stub>) {
        return std::to_address(stub);
    } else {
        return std::shared_ptr<typename type::element_type>(std::forward<Stub>(stub));
    }
}

} // namespace detail

/// A unary call of gRPC as an operation for `async_retry` and `async_hedge`.
///
///     auto ask = grpc_unary(stub, &Greeter::Stub::async::SayHello, request);
///     HelloReply const reply = co_await async_retry(ask, policy);
///
/// `stub` is a stub that protoc has generated, or a plain, unique or shared pointer to one. `method` is its
/// method for callbacks. `prepare(context)`, if given, may set metadata, credentials and the like in the new
/// `grpc::ClientContext` of each attempt.
///
/// - The deadline of the call is `attempt::deadline`, or an earlier one that `prepare` has set.
/// - From the second attempt on, `grpc-previous-rpc-attempts` tells the server how many came before. A channel
///   that retries too, as it does by default, removes the field.
/// - A status other than OK is a failure of the class that `classify_grpc` gives it.
/// - RESOURCE_EXHAUSTED because of a message beyond a limit is permanent, whatever `retry_if` says. It is known
///   by the texts of gRPC in C++, Go, Python, Java and .NET, such as "message larger than max". The response
///   may have been too large, and then the server has done its work.
/// - `grpc-retry-pushback-ms` of a failed call is heeded: the server's time, or no retry at all.
///
/// An attempt counts as sent from its beginning (`retry_policy::retry_sent`).
///
/// Lifetimes: request, stub pointer and `prepare` are copied or moved. A stub that is given as a reference, a
/// plain pointer or an lvalue of a unique pointer outlives the operation. What gRPC uses lives until it has
/// called back, even if the operation, its executor's context or an attempt left behind is gone.
///
/// Completion signature: void(std::exception_ptr, Response). The exception is a `grpc_error`, or
/// `operation_aborted` if the operation cancelled the attempt. Any other limit or gate is as for `async_retry`.
/// If you call the operation yourself, a message beyond a limit is a `permanent_error` with the `grpc_error` in
/// it; `async_retry` and `async_hedge` take it out.
/// Callers with a callback get a `grpc::Status` by `grpc_status(e)`.
///
/// Executor: gRPC's threads post to the handler's associated executor. The call counts as work of its context.
///
/// Per-operation cancellation: all types, with the same meaning: `TryCancel`. The server may have carried out
/// the request. A success that has come wins.
///
/// Errors: throws std::invalid_argument if stub, its `async()` or method is a null pointer. What `prepare`
/// throws is the failure of the attempt.
///
/// Thread safety: distinct operations are independent; several threads may share a stub. `prepare` is called
/// where the attempt begins.
///
/// Source: gRFC A6, "gRPC Retry Design".
template <typename Stub, typename Async, typename Request, typename Response>
auto grpc_unary(Stub&& stub,
                void (Async::*method)(grpc::ClientContext*, Request const*, Response*,
                                      std::function<void(grpc::Status)>),
                std::type_identity_t<Request> request,
                std::function<void(grpc::ClientContext&)> prepare = nullptr) {
    auto pointer = detail::pointer_to_stub(std::forward<Stub>(stub));
    if (!pointer)
        detail::refuse("grpc_unary.stub", "null", "must be a stub");
    if (!(*pointer).async())
        detail::refuse("grpc_unary.stub", "without async()", "must be generated: a mock of it has no calls");
    if (!method)
        detail::refuse("grpc_unary.method", "null", "must be a method of the stub");
    return detail::unary_operation<decltype(pointer), Async, Request, Response>(
        std::move(pointer), method, std::move(request), std::move(prepare));
}

} // namespace asio_retry
