#pragma once

namespace asio_retry::test {

/// How a configuration begins of an nginx that writes to its own folder alone. The block `http` is open.
constexpr char const* nginx_in_its_folder = R"(
daemon off;
master_process off;
pid nginx.pid;
error_log stderr;
events {}
http {
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
)";

} // namespace asio_retry::test
