#include "exhaustion/scenarios.hpp"

#include <deque>
#include <optional>

namespace asio_retry::test {
namespace {

using scope_holder = std::optional<retry_scope>;

scope_holder& new_scope(trial& t) {
    return keep<scope_holder>(t, std::in_place, t.io.get_executor());
}

/// Hears of a request without any memory.
class content_member final : public detail::scope_member {
public:
    explicit content_member(detail::scope_state& in) noexcept
        : in_(in) {
        in_.link(*this);
    }
    ~content_member() { in_.unlink(*this); }

private:
    void on_scope_notice() override { in_.take_request(*this); }
    void on_notice_failed() override {}

    detail::scope_state& in_;
};

/// So many that the call tells nobody else, and turns tell the rest.
class members_of_a_call {
public:
    explicit members_of_a_call(retry_scope& scope)
        : scope_(state_of(scope)) {
        for (int i = 0; i != detail::scope_state::steps_of_call; ++i)
            members_.emplace_back(*scope_);
    }

private:
    detail::scope_handle scope_;
    std::deque<content_member> members_;
};

} // namespace

std::vector<scenario> scopes() {
    auto const fails_in = [](auto& t, retry_scope& scope, error_code expected) {
        auto& s = failing(t, 100);
        retry_policy const policy = t.with_memory(patient);
        t.start(expected, [&](auto handler) { async_retry(scope, posting(t, s), policy, std::move(handler)); });
    };
    auto const hangs_in = [](auto& t, retry_scope& scope) {
        // An attempt that a destroyed scope could not tell ends by itself.
        retry_policy const policy = t.with_memory([] { return patient().attempt_timeout(1h); });
        auto const operation = hanging(t);
        return t
            .start(aborted(), [&](auto handler) { async_retry(scope, operation, policy, std::move(handler)); })
            .refused;
    };
    auto const joins = [](auto& t, retry_scope& scope) {
        t.start({}, [&](auto handler) { scope.async_join(std::move(handler)); });
    };

    auto const drains = [](auto& t, retry_scope& scope, duration timeout) {
        bool const refused =
            t.start({}, [&](auto handler) { scope.async_drain(timeout, std::move(handler)); }).refused;
        if (refused) // some operations may not have been told
            trial::with_memory([&] { t.with_memory_again = [&] { scope.cancel(); }; });
    };

    return {
        make_scenario("scope_drained",
                      [=](auto& t) {
                          scope_holder& scope = new_scope(t);
                          for (int i = 0; i < 3; ++i)
                              fails_in(t, *scope, aborted());
                          t.advance(50ms);
                          drains(t, *scope, 1h);
                      }),
        make_scenario("scope_drained_to_its_timeout",
                      [=](auto& t) {
                          scope_holder& scope = new_scope(t);
                          for (int i = 0; i < 3; ++i)
                              hangs_in(t, *scope);
                          t.advance(50ms);
                          drains(t, *scope, 20ms);
                      }),
        make_scenario("scope_sent_to_retry_now",
                      [=](auto& t) {
                          scope_holder& scope = new_scope(t);
                          for (int i = 0; i < 3; ++i)
                              fails_in(t, *scope, refused());
                          for (int i = 0; i < 3; ++i) {
                              t.advance(10ms);
                              t.step([&] { scope->retry_now(); });
                          }
                      }),
        make_scenario("scope_without_room",
                      [=](auto& t) {
                          scope_holder& scope = new_scope(t);
                          scope->max_pending(1);
                          bool const has_room = hangs_in(t, *scope);
                          fails_in(t, *scope, has_room ? aborted() : asio::error::no_buffer_space);
                          t.advance(50ms);
                          t.cancel(*scope);
                      }),
        make_scenario("scope_not_cancelled", [=](auto& t) { fails_in(t, *new_scope(t), refused()); }),
        make_scenario("scope_cancelled_in_waits",
                      [=](auto& t) {
                          scope_holder& scope = new_scope(t);
                          for (int i = 0; i < 5; ++i)
                              fails_in(t, *scope, aborted());
                          t.advance(50ms);
                          t.cancel(*scope);
                      }),
        make_scenario("scope_cancelled_in_attempts",
                      [=](auto& t) {
                          scope_holder& scope = new_scope(t);
                          for (int i = 0; i < 5; ++i)
                              hangs_in(t, *scope);
                          t.advance(50ms);
                          t.cancel(*scope);
                      }),
        make_scenario("scope_cancelled_in_turns",
                      [=](auto& t) {
                          scope_holder& scope = new_scope(t);
                          keep<members_of_a_call>(t, *scope);
                          for (int i = 0; i < 3; ++i) {
                              fails_in(t, *scope, aborted());
                              hangs_in(t, *scope);
                          }
                          t.advance(50ms);
                          t.cancel(*scope);
                      }),
        make_scenario("scope_sent_to_retry_in_turns",
                      [=](auto& t) {
                          scope_holder& scope = new_scope(t);
                          keep<members_of_a_call>(t, *scope);
                          for (int i = 0; i < 3; ++i)
                              fails_in(t, *scope, refused());
                          t.advance(10ms);
                          t.step([&] { scope->retry_now(); });
                          t.step([&] { scope->retry_now(1s); });
                      }),
        make_scenario("scope_destroyed",
                      [=](auto& t) {
                          scope_holder& scope = new_scope(t);
                          fails_in(t, *scope, aborted());
                          hangs_in(t, *scope);
                          t.advance(50ms);
                          scope.reset();
                      }),
        make_scenario("scope_cancelled_before",
                      [=](auto& t) {
                          scope_holder& scope = new_scope(t);
                          scope->cancel();
                          fails_in(t, *scope, aborted());
                      }),
        make_scenario("nested_scopes",
                      [=](auto& t) {
                          scope_holder& parent = new_scope(t);
                          scope_holder& first = keep<scope_holder>(t);
                          scope_holder& second = keep<scope_holder>(t);
                          if (!t.step([&] { first.emplace(*parent); }) ||
                              !t.step([&] { second.emplace(*first); }))
                              return;
                          for (scope_holder const* scope : {&parent, &first, &second})
                              hangs_in(t, const_cast<retry_scope&>(**scope));
                          fails_in(t, *first, aborted());
                          t.advance(50ms);
                          t.cancel(*parent);
                      }),
        make_scenario("empty_scope_joined", [=](auto& t) { joins(t, *new_scope(t)); }),
        make_scenario("scope_joined",
                      [=](auto& t) {
                          scope_holder& scope = new_scope(t);
                          fails_in(t, *scope, refused());
                          joins(t, *scope);
                          joins(t, *scope);
                      }),
        make_scenario("cancelled_scope_joined",
                      [=](auto& t) {
                          scope_holder& scope = new_scope(t);
                          hangs_in(t, *scope);
                          joins(t, *scope);
                          t.advance(50ms);
                          t.cancel(*scope);
                      }),
    };
}

} // namespace asio_retry::test
