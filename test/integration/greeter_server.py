# Answers each request of the service Greeter with its own bytes: in both messages field 1 is a string.
#   greeter_server.py ADDRESS
import sys
from concurrent import futures

try:
    import grpc
except ImportError:
    sys.exit("there is no grpc for this python")


def main():
    address, = sys.argv[1:]
    server = grpc.server(futures.ThreadPoolExecutor(4), options=[("grpc.so_reuseport", 0)])
    first = iter(["answers"])

    def answer(request, context):
        for word in first:
            print(word, flush=True)
        return request

    greet = grpc.unary_unary_rpc_method_handler(answer)
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("Greeter", {"SayHello": greet})])
    if not server.add_insecure_port(address):
        sys.exit("cannot listen at " + address)
    server.start()
    server.wait_for_termination()


main()
