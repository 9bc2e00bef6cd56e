#include "text/policy_json_keys.hpp"

#include <boost/json/basic_parser_impl.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>

namespace asio_retry::detail {
namespace {

/// The handler of a basic_parser.
class key_watcher {
public:
    using error_code = boost::system::error_code;
    using text = boost::json::string_view;

    static constexpr std::size_t max_object_size = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t max_array_size = max_object_size;
    static constexpr std::size_t max_key_size = max_object_size;
    static constexpr std::size_t max_string_size = max_object_size;

    bool on_object_begin(error_code&) {
        open_.emplace_back();
        return true;
    }
    bool on_object_end(std::size_t, error_code&) {
        open_.pop_back();
        return true;
    }
    bool on_key_part(text part, std::size_t, error_code&) {
        key_.append(part.data(), part.size());
        return true;
    }
    bool on_key(text last_part, std::size_t, error_code&) {
        key_.append(last_part.data(), last_part.size());
        object& inside = open_.back();
        inside.last_key = key_;
        if (!inside.keys.insert(key_).second && repeated_.empty())
            for (object const& each : open_)
                repeated_.push_back(each.last_key);
        key_.clear();
        return true;
    }

    bool on_document_begin(error_code&) { return true; }
    bool on_document_end(error_code&) { return true; }
    bool on_array_begin(error_code&) { return true; }
    bool on_array_end(std::size_t, error_code&) { return true; }
    bool on_string_part(text, std::size_t, error_code&) { return true; }
    bool on_string(text, std::size_t, error_code&) { return true; }
    bool on_number_part(text, error_code&) { return true; }
    bool on_int64(std::int64_t, text, error_code&) { return true; }
    bool on_uint64(std::uint64_t, text, error_code&) { return true; }
    bool on_double(double, text, error_code&) { return true; }
    bool on_bool(bool, error_code&) { return true; }
    bool on_null(error_code&) { return true; }
    bool on_comment_part(text, error_code&) { return true; }
    bool on_comment(text, error_code&) { return true; }

    std::vector<std::string> const& repeated() const { return repeated_; }

private:
    struct object {
        std::set<std::string> keys;
        std::string last_key;
    };

    std::vector<object> open_;
    std::string key_;
    std::vector<std::string> repeated_;
};

} // namespace

std::vector<std::string> repeated_key(std::string_view json) {
    boost::json::basic_parser<key_watcher> reader{boost::json::parse_options()};
    boost::system::error_code none;
    reader.write_some(false, json.data(), json.size(), none);
    return reader.handler().repeated();
}

} // namespace asio_retry::detail
