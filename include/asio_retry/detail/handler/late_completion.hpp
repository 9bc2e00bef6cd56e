#pragma once

#include <asio_retry/detail/handler/unpack.hpp>
#include <asio_retry/detail/policy/config.hpp>

#include <boost/asio/associator.hpp>

#include <utility>

namespace asio_retry::detail {

/// A handler and its arguments, queued in the handler's place with its executor, allocator and slot. `Presence`
/// lasts as long as the handler.
template <typename Handler, typename Arguments, typename Presence>
class late_completion {
public:
    late_completion(Handler&& handler, Arguments&& values, Presence&& presence)
        : presence_(std::move(presence))
        , handler_(std::move(handler))
        , values_(std::move(values)) {}

    void operator()() { detail::unpack(std::move(handler_), std::move(values_), places_of<Arguments>); }

    Handler const& handler() const noexcept { return handler_; }

private:
    ASIO_RETRY_NO_UNIQUE_ADDRESS Presence presence_;
    Handler handler_;
    Arguments values_;
};

} // namespace asio_retry::detail

template <template <typename, typename> class Associator, typename Handler, typename Arguments,
          typename Presence, typename Default>
struct boost::asio::associator<Associator, asio_retry::detail::late_completion<Handler, Arguments, Presence>,
                               Default> : Associator<Handler, Default> {
    using completion = asio_retry::detail::late_completion<Handler, Arguments, Presence>;

    static typename Associator<Handler, Default>::type get(completion const& late) noexcept {
        return Associator<Handler, Default>::get(late.handler());
    }
    static auto get(completion const& late, Default const& otherwise) noexcept
        -> decltype(Associator<Handler, Default>::get(late.handler(), otherwise)) {
        return Associator<Handler, Default>::get(late.handler(), otherwise);
    }
};
