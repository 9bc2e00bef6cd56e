#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/policy_text.hpp>
#include <asio_retry/retry_policy.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace asio_retry {

/// Policies with names, which a program replaces all at once while it runs.
///
/// The text has a line `name = policy` for each, as `parse_policies` and `asio-retry explain --file` read it.
/// A program that reads JSON, or adds gates and observers, makes the list itself:
///
///     policy_book book(policies_from_json(text));
///
/// The policies have their names in the book as `retry_policy::name` too, so that logs and metrics tell them
/// apart. A policy that has been given another name keeps that one.
///
/// Lifetime: a policy of the book is a copy. An operation keeps the policy that it began with, also after a
/// reload and after the end of the book.
///
/// Thread safety: call any function from any thread. A lookup takes no lock, and waits neither for a reload nor
/// for another lookup. It changes two atomic counts: that of the readers and that of the policy's copies.
/// `reload` waits for other reloads, and for lookups that have begun before, but not for an `f` of `for_each`.
class policy_book {
public:
    /// Reads a text. Throws policy_syntax_error, with line and column, as `parse_policies` does.
    ASIO_RETRY_DECL explicit policy_book(std::string_view text);

    /// Makes a book of these policies, with their gates, observers and callables.
    ///
    /// Throws policy_syntax_error for an empty list, a name that stands twice, and a name that
    /// `retry_policy::name` refuses.
    ASIO_RETRY_DECL explicit policy_book(std::vector<named_policy> policies);

    ASIO_RETRY_DECL ~policy_book();
    policy_book(policy_book const&) = delete;
    policy_book& operator=(policy_book const&) = delete;

    /// The policy of that name. Never throws for a name that was found once, because a reload removes none.
    ///
    /// Throws std::out_of_range, whose message names a similar policy if there is one. Allocates only then.
    ASIO_RETRY_DECL retry_policy operator[](std::string_view name) const;

    /// The policy of that name, or nothing if there is none. Never allocates.
    ASIO_RETRY_DECL std::optional<retry_policy> find(std::string_view name) const noexcept;

    /// Replaces all policies at once, or none: lookups see either the old ones or the new ones.
    ///
    /// If the old and the new policy of a name both have a `rate_limit` that a text or JSON has made, the new
    /// policy keeps the old gate. When all policies are in force, the gates get the new numbers, one after the
    /// other: operations that wait get new times. A lookup meanwhile may find a limit with its old rate. A
    /// `concurrency_limit` and a `hedge_share` of a text are kept if their numbers are the same.
    ///
    /// The text must have each name that the book has; it may have more. So a file that is empty, or whose end
    /// is missing, removes no policy. A cut inside the last line is noticed unless what remains is a policy.
    ///
    /// Throws policy_syntax_error, with line and column, as the constructor does, and for a name that is
    /// missing. If it throws, the book is as before, and so are the rates.
    ASIO_RETRY_DECL void reload(std::string_view text);

    /// Replaces all policies at once by those of a list, or none. The error has no line.
    ASIO_RETRY_DECL void reload(std::vector<named_policy> policies);

    /// Calls `f(std::string const& name, retry_policy const&)` for each policy, in the order of the text.
    ///
    /// All are of the same text, also if another thread reloads meanwhile. `f` may call any function here.
    template <typename Function>
    void for_each(Function&& f) const {
        auto const all = snapshot();
        for (named_policy const& each : *all)
            f(each.name, each.policy);
    }

private:
    class pages;

    ASIO_RETRY_DECL std::shared_ptr<std::vector<named_policy> const> snapshot() const noexcept;

    std::unique_ptr<pages> const pages_;
};

} // namespace asio_retry
