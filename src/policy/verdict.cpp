#include <asio_retry/verdict.hpp>

#include "policy/abortion.hpp"

namespace asio_retry {

verdict verdict::timed_out(verdict const& own) {
    verdict v = failure(timed_out_error());
    v.permanent_ = own.permanent_;
    v.aborted_ = detail::is_abortion(own.error_);
    v.said_ = own.said_;
    if (own.exception_)
        v.exception_ = detail::exception_of(v.error_, own.exception_);
    return v;
}

} // namespace asio_retry
