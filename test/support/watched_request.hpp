#pragma once

#include <asio_retry/detail/scope/scope_state.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>

namespace asio_retry::test {

/// Members of a scope, and how many a request to it tells in the call and between two runs of a handler that
/// posts itself.
class watched_request {
public:
    explicit watched_request(std::size_t count) {
        for (std::size_t i = 0; i != count; ++i)
            members_.emplace_back(*scope_, told_);
    }

    void run(detail::scope_request what) {
        scope_->request(what);
        told_in_call_ = seen_told_ = told_;
        watch();
        io_.run();
    }

    std::size_t told() const { return told_; }
    std::size_t told_in_call() const { return told_in_call_; }
    std::size_t most_told() const { return most_told_; }

private:
    class member final : public detail::scope_member {
    public:
        member(detail::scope_state& in, std::size_t& told)
            : in_(in)
            , told_(told) {
            in_.link(*this);
        }
        ~member() { in_.unlink(*this); }

    private:
        void on_scope_notice() override {
            in_.take_request(*this);
            ++told_;
        }
        void on_notice_failed() override { in_.miss_request(*this); }

        detail::scope_state& in_;
        std::size_t& told_;
    };

    void watch() {
        most_told_ = std::max(most_told_, told_ - seen_told_);
        seen_told_ = told_;
        if (told_ != members_.size() && ++beats_ != 1'000'000)
            boost::asio::post(io_, [this] { watch(); });
    }

    boost::asio::io_context io_{1};
    detail::scope_handle scope_ = detail::scope_state::create(io_.get_executor(), {}, (time_point::max)());
    std::size_t told_ = 0;
    std::deque<member> members_;
    std::size_t told_in_call_ = 0;
    std::size_t seen_told_ = 0;
    std::size_t most_told_ = 0;
    int beats_ = 0;
};

} // namespace asio_retry::test
