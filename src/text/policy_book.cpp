#include <asio_retry/policy_book.hpp>

#include "text/nearest.hpp"
#include "text/policy_lines.hpp"
#include "text/published.hpp"
#include "text/shown_text.hpp"

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
        : all_(std::make_shared<std::vector<named_policy> const>(std::move(policies))) {
        if (all_->empty())
            fail_in_list("expected a policy, found none");
        for (named_policy const& each : *all_) {
            check_name(each.name, {std::string_view::npos, "a list of policies"});
            if (!by_name_.emplace(each.name, &each.policy).second)
                fail_second({std::string_view::npos, "a list of policies"}, each.name);
        }
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
        auto next = page_of(std::move(policies));
        std::unique_ptr<detail::book_page const> old; // dies without the lock: its gates may be anything
        std::lock_guard const lock(mutex_);
        auto const present = all();
        for (named_policy const& each : *present)
            if (!next->find(each.name))
                fail("expected a policy '" + detail::shown(each.name) + "', because a reload removes none");
        old = current_.replace(std::move(next));
    }

private:
    static std::unique_ptr<detail::book_page const> page_of(std::vector<named_policy> policies) {
        return std::make_unique<detail::book_page const>(std::move(policies));
    }

    std::mutex mutex_; // of those who replace
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
