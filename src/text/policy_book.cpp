#include <asio_retry/policy_book.hpp>

#include "policy/shown_text.hpp"
#include "text/nearest.hpp"
#include "text/policy_lines.hpp"
#include "text/published.hpp"
#include "text/text_gates.hpp"

#include <memory>
#include <mutex>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace asio_retry {
namespace detail {
namespace {

/// The policies of one text, by name.
class book_page {
public:
    explicit book_page(std::vector<named_policy> policies)
        : all_(std::make_shared<std::vector<named_policy> const>(with_names(std::move(policies)))) {
        if (all_->empty())
            fail_in_list("expected a policy, found none");
        for (named_policy const& each : *all_)
            if (!by_name_.emplace(each.name, &each.policy).second)
                fail_second({std::string_view::npos, "a list of policies"}, each.name);
    }

    std::shared_ptr<std::vector<named_policy> const> const& all() const noexcept { return all_; }

    retry_policy const* find(std::string_view name) const noexcept {
        auto const found = by_name_.find(name);
        return found == by_name_.end() ? nullptr : found->second;
    }

    [[noreturn]] static void fail_in_list(std::string_view problem) {
        fail({std::string_view::npos, "a list of policies"}, problem);
    }

private:
    /// Names the policies that have no name of their own.
    static std::vector<named_policy> with_names(std::vector<named_policy> policies) {
        for (named_policy& each : policies) {
            check_name(each.name, {std::string_view::npos, "a list of policies"});
            if (each.policy.settings().name.empty())
                each.policy = each.policy.name(each.name);
        }
        return policies;
    }

    std::shared_ptr<std::vector<named_policy> const> all_;
    std::unordered_map<std::string_view, retry_policy const*> by_name_; // of `all_`
};

} // namespace
} // namespace detail

class policy_book::pages {
public:
    explicit pages(std::vector<named_policy> policies)
        : current_(page_of(std::move(policies))) {}

    std::optional<retry_policy> find(std::string_view name) const noexcept {
        return current_.read([&](detail::book_page const& page) {
            retry_policy const* const found = page.find(name);
            return found ? std::optional(*found) : std::nullopt;
        });
    }

    std::shared_ptr<std::vector<named_policy> const> all() const noexcept {
        return current_.read([](detail::book_page const& page) { return page.all(); });
    }

    /// `fail(problem)` throws if a policy is missing.
    template <typename Fail>
    void replace(std::vector<named_policy> policies, Fail fail) {
        // Destroyed without the lock, because their gates may be the user's.
        std::unique_ptr<detail::book_page const> next, old;
        std::lock_guard const lock(mutex_);
        auto const present = all();
        std::vector<kept_limit> const kept = keep_limits(policies);
        next = page_of(std::move(policies));
        for (named_policy const& each : *present)
            if (!next->find(each.name))
                fail("expected a policy '" + detail::shown(each.name) + "', because a reload removes none");
        old = current_.replace(std::move(next));
        for (auto const& [limit, numbers] : kept)
            if (limit->numbers() != numbers)
                limit->update(numbers.n, numbers.per, numbers.burst);
    }

private:
    /// A limit of the present policies that the next policies have too, with other numbers.
    struct kept_limit {
        std::shared_ptr<rate_limit> limit;
        rate_limit_numbers next;
    };

    /// Lets a policy of `next` keep the gate that a text has made for the present policy of its name, if the
    /// numbers are equal. It keeps a `rate_limit` with other numbers, too; the caller updates the limit later.
    std::vector<kept_limit> keep_limits(std::vector<named_policy>& next) const {
        std::vector<kept_limit> kept;
        for (named_policy& each : next) {
            auto const present = find(each.name);
            auto const& gate = each.policy.settings().gate;
            if (present && gate != present->settings().gate &&
                detail::are_same_in_text(gate, present->settings().gate)) {
                each.policy = each.policy.gate(present->settings().gate);
                continue;
            }
            auto const made = detail::rate_limit_of_text(gate);
            auto limit = present && made ? detail::rate_limit_of_text(present->settings().gate) : nullptr;
            if (!limit || limit == made)
                continue;
            each.policy = each.policy.gate(limit);
            kept.push_back({std::move(limit), made->numbers()});
        }
        return kept;
    }

    static std::unique_ptr<detail::book_page const> page_of(std::vector<named_policy> policies) {
        return std::make_unique<detail::book_page const>(std::move(policies));
    }

    std::mutex mutex_; // of threads that replace the policies
    detail::published<detail::book_page> current_;
};

policy_book::policy_book(std::string_view text)
    : policy_book(parse_policies(text)) {}

policy_book::policy_book(std::vector<named_policy> policies)
    : pages_(std::make_unique<pages>(std::move(policies))) {}

policy_book::~policy_book() = default;

retry_policy policy_book::operator[](std::string_view name) const {
    if (std::optional<retry_policy> found = find(name))
        return *std::move(found);
    std::string const question = detail::did_you_mean(name, *snapshot());
    throw std::out_of_range("asio_retry: policy_book: no policy '" + detail::shown(name) + "'" + question);
}

std::optional<retry_policy> policy_book::find(std::string_view name) const noexcept {
    return pages_->find(name);
}

void policy_book::reload(std::string_view text) {
    pages_->replace(parse_policies(text),
                    [&](std::string const& problem) { detail::fail_in_lines(text, text.size(), problem); });
}

void policy_book::reload(std::vector<named_policy> policies) {
    pages_->replace(std::move(policies), detail::book_page::fail_in_list);
}

std::shared_ptr<std::vector<named_policy> const> policy_book::snapshot() const noexcept {
    return pages_->all();
}

} // namespace asio_retry
