#pragma once

#include <boost/system/error_code.hpp>

#include <utility>

namespace asio_retry::test {

/// The handler of an attempt, whose type is forgotten, so that what is done with it is compiled once for all of
/// them.
struct forgotten_handler {
    virtual ~forgotten_handler() = default;
    virtual void complete(boost::system::error_code ec, int value) = 0;
};

template <typename Handler>
class kept_handler final : public forgotten_handler {
public:
    explicit kept_handler(Handler&& handler)
        : handler_(std::move(handler)) {}
    void complete(boost::system::error_code ec, int value) override { std::move(handler_)(ec, value); }

private:
    Handler handler_;
};

} // namespace asio_retry::test
