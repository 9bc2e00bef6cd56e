#include <asio_retry/verdict.hpp>

#include "policy/abortion.hpp"

namespace asio_retry {

verdict verdict::classified(verdict const& own, failure_class what) noexcept {
    verdict v = own;
    if (what.kind == failure_kind::none || detail::is_abortion(own.error_))
        return v;
    v.permanent_ = own.permanent_ || what.kind == failure_kind::permanent;
    v.is_classified_ = true;
    v.own_kind_ = what.kind;
    v.own_effect_ = what.effect;
    return v;
}

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
