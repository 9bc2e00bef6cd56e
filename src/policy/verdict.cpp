#include <asio_retry/verdict.hpp>

#include "policy/abortion.hpp"

#include <cassert>
#include <utility>

namespace asio_retry {

verdict verdict::failure(error_code const& code) noexcept {
    assert(code);
    auto const inner = detail::find_permanent(code);
    verdict v;
    v.failed_ = true;
    v.permanent_ = inner.has_value();
    v.error_ = inner.value_or(code);
    return v;
}

verdict verdict::failure(std::exception_ptr e) {
    assert(e);
    auto const permanent = detail::find_permanent(e);
    verdict v = failure(permanent ? permanent->code() : code_of(e));
    v.permanent_ = permanent.has_value();
    if (permanent)
        v.exception_ = permanent->exception();
    else
        v.exception_ = std::move(e);
    return v;
}

verdict verdict::failure(error_code const& code, std::exception_ptr e) noexcept {
    verdict v = failure(code);
    v.exception_ = std::move(e);
    return v;
}

verdict verdict::rejected(judgement const& why) noexcept {
    verdict v = failure(make_error_code(asio_retry::error::result_rejected));
    v.own_kind_ = why.what.kind;
    v.own_effect_ = why.what.effect;
    v.said_ = why.said;
    v.status_ = why.status;
    return v;
}

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
    verdict v = failure(detail::timed_out_error());
    v.permanent_ = own.permanent_;
    v.aborted_ = detail::is_abortion(own.error_);
    v.said_ = own.said_;
    if (own.exception_)
        v.exception_ = detail::exception_of(v.error_, own.exception_);
    return v;
}

} // namespace asio_retry
