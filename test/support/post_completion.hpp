#pragma once

#include <asio_retry/detail/handler/late_completion.hpp>

#include <boost/asio/post.hpp>

#include <tuple>
#include <utility>

namespace asio_retry::test {

/// Queues a completion, as asio::post of asio::append does, of which g++ compiles ten functions more for each
/// handler.
template <typename Where, typename Handler, typename... Values>
void post_completion(Where&& where, Handler&& handler, Values... values) {
    struct nothing {};
    boost::asio::post(where, detail::late_completion<Handler, std::tuple<Values...>, nothing>(
                                 std::move(handler), std::tuple<Values...>(std::move(values)...), nothing()));
}

} // namespace asio_retry::test
