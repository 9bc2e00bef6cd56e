#pragma once

#include "greeter.grpc.pb.h"

#include <grpcpp/channel.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace asio_retry::test {

/// A server on a free port of this machine, in this process. It calls `answer` for each call, on its threads.
class greeter_server final : Greeter::CallbackService {
public:
    struct call {
        grpc::CallbackServerContext& context;
        HelloRequest const& request;
        HelloReply& reply;
        grpc::ServerUnaryReactor& reactor; ///< to be finished
    };

    explicit greeter_server(std::function<void(call const&)> answer)
        : answer_(std::move(answer)) {
        grpc::ServerBuilder builder;
        builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
        builder.RegisterService(this);
        server_ = builder.BuildAndStart();
        if (!server_)
            throw std::runtime_error("the server does not start");
    }

    ~greeter_server() { server_->Shutdown(); }

    /// With the service config, if it is not empty.
    std::shared_ptr<grpc::Channel> channel(std::string const& service_config = {}) const {
        grpc::ChannelArguments arguments;
        arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
        if (!service_config.empty())
            arguments.SetServiceConfigJSON(service_config);
        else
            arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
        return grpc::CreateCustomChannel("127.0.0.1:" + std::to_string(port_),
                                         grpc::InsecureChannelCredentials(), arguments);
    }

private:
    grpc::ServerUnaryReactor* SayHello(grpc::CallbackServerContext* context, HelloRequest const* request,
                                       HelloReply* reply) override {
        grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
        answer_({*context, *request, *reply, *reactor});
        return reactor;
    }

    std::function<void(call const&)> const answer_;
    int port_ = 0;
    std::unique_ptr<grpc::Server> server_;
};

} // namespace asio_retry::test
