#!/bin/sh
# With TLS 1.3 a client whose certificate is refused is "connected" first, and fails later.
#
# One would expect: as with TLS 1.2, the handshake fails if the server demands a certificate in vain.
# True is: in TLS 1.3 (RFC 8446, 2) the client has done its part before the server checks the certificate.
# The handshake succeeds, and mostly the first write. The refusal comes as an alert, or as a mere reset.
# It matters: a loop that resets its delay after "connected" reconnects without any delay, for ever, with
# a full handshake each time. The error comes from reading and looks transient, but it is permanent.
# Needs openssl.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
cd "$folder"
openssl version
python3 -c 'import ssl, sys; print("Python", sys.version.split()[0], "with", ssl.OPENSSL_VERSION)'
openssl req -x509 -newkey rsa:2048 -nodes -keyout key -out certificate -days 2 -subj /CN=localhost 2>/dev/null

python3 - >seen <<'END'
import socket
import ssl
import threading


def serve(listener, version):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain("certificate", "key")
    context.verify_mode = ssl.CERT_REQUIRED  # the client has none
    context.load_verify_locations("certificate")
    context.minimum_version = context.maximum_version = version
    for _ in range(2):
        connection, _ = listener.accept()
        try:
            context.wrap_socket(connection, server_side=True)
        except OSError:
            connection.close()


context = ssl.create_default_context(cafile="certificate")
for version in ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3:
    listener = socket.create_server(("127.0.0.1", 0))
    server = threading.Thread(target=serve, args=(listener, version))
    server.start()
    for attempt in 1, 2:
        step = "handshake"
        try:
            raw = socket.create_connection(listener.getsockname())
            client = context.wrap_socket(raw, server_hostname="localhost")
            step = "what comes after the handshake"  # mostly `recv`, seldom `sendall`
            client.sendall(b"request")
            client.recv(1)
            step = "nothing"
        except OSError:
            pass
        print(f"{version.name}, attempt {attempt}: {step} fails")
    server.join()
END
cat seen
diff - seen <<'END' || { echo "This has changed."; exit 1; }
TLSv1_2, attempt 1: handshake fails
TLSv1_2, attempt 2: handshake fails
TLSv1_3, attempt 1: what comes after the handshake fails
TLSv1_3, attempt 2: what comes after the handshake fails
END
