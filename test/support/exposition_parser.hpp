#pragma once

#include <cstddef>
#include <limits>
#include <locale>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace asio_retry::test {

/// Reads Prometheus' text exposition format, version 0.0.4, as strictly as its grammar is, and says what is
/// wrong with a text.
class exposition_parser {
public:
    using labels = std::map<std::string, std::string>;

    explicit exposition_parser(std::string_view text)
        : rest_(text) {
        while (fault.empty() && !rest_.empty())
            read_line();
        for (auto const& [name, type] : types_)
            if (type == "histogram")
                check_histogram(name);
    }

    /// Of exactly these labels.
    std::optional<double> value(std::string const& name, labels const& of = {}) const {
        auto const found = samples.find({name, of});
        return found == samples.end() ? std::nullopt : std::optional(found->second);
    }

    std::map<std::pair<std::string, labels>, double> samples;
    std::map<std::string, std::string> helps;
    std::string fault;

private:
    void fail(std::string_view what) {
        if (fault.empty())
            fault = std::string(what) + " in: " + std::string(line_);
    }

    void read_line() {
        std::size_t const end = rest_.find('\n');
        line_ = rest_.substr(0, end);
        if (end == std::string_view::npos)
            return fail("no line feed at the end");
        rest_.remove_prefix(end + 1);
        std::string_view left = line_;
        if (left.empty())
            return;
        if (skip(left, "# HELP "))
            read_help(left);
        else if (skip(left, "# TYPE "))
            read_type(left);
        else if (left.front() != '#')
            read_sample(left);
    }

    static bool skip(std::string_view& text, std::string_view what) {
        bool const is_there = text.starts_with(what);
        if (is_there)
            text.remove_prefix(what.size());
        return is_there;
    }

    std::string read_name(std::string_view& text, bool is_label = false) {
        constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
        std::string more(letters);
        more.append("0123456789").append(is_label ? "" : ":");
        std::size_t const end = std::min(text.find_first_not_of(more), text.size());
        std::string const name(text.substr(0, end));
        if (name.empty() || ('0' <= name[0] && name[0] <= '9'))
            fail("no name");
        text.remove_prefix(end);
        return name;
    }

    void read_help(std::string_view text) {
        std::string const name = read_name(text);
        if (!skip(text, " "))
            return fail("no help");
        for (std::size_t i = 0; i != text.size(); ++i)
            if (text[i] == '\\' && (++i == text.size() || (text[i] != '\\' && text[i] != 'n')))
                return fail("a help that is not escaped");
        if (!helps.emplace(name, text).second)
            fail("a second help");
        if (types_.contains(name))
            fail("a help after the type");
    }

    void read_type(std::string_view text) {
        std::string const name = read_name(text);
        if (!skip(text, " ") ||
            !std::set<std::string_view>{"counter", "gauge", "histogram", "summary", "untyped"}.contains(text))
            return fail("no type");
        if (!types_.emplace(name, text).second)
            fail("a second type");
        family_ = name;
    }

    void read_sample(std::string_view text) {
        std::string const name = read_name(text);
        labels found;
        if (skip(text, "{"))
            found = read_labels(text);
        if (!skip(text, " "))
            return fail("no space before the value");
        if (!is_of_family(name))
            return fail("a sample outside its family");
        double const value = read_value(text);
        if (types_[family_] == "counter" && !(value >= 0))
            fail("a counter below zero");
        if (!samples.emplace(std::pair(name, found), value).second)
            fail("a series that is there already");
    }

    /// The samples of a family follow its type, and no others.
    bool is_of_family(std::string_view name) const {
        auto const type = types_.find(family_);
        if (type == types_.end() || !skip(name, family_))
            return false;
        if (type->second != "histogram")
            return name.empty();
        return (name == "_bucket" || name == "_sum" || name == "_count");
    }

    labels read_labels(std::string_view& text) {
        labels found;
        while (fault.empty() && !skip(text, "}")) {
            if (!found.empty() && !skip(text, ","))
                fail("no comma between labels");
            std::string const name = read_name(text, true);
            if (!skip(text, "=\""))
                fail("no value of a label");
            if (!found.emplace(name, read_label_value(text)).second)
                fail("a label twice");
        }
        return found;
    }

    std::string read_label_value(std::string_view& text) {
        std::string value;
        while (!skip(text, "\"")) {
            if (text.empty()) {
                fail("a label's value without an end");
                return value;
            }
            if (skip(text, "\\")) {
                if (!text.starts_with('\\') && !text.starts_with('"') && !text.starts_with('n'))
                    fail("an unknown escape");
                value += text.starts_with('n') ? '\n' : text.front();
            } else {
                value += text.front();
            }
            text.remove_prefix(1);
        }
        return value;
    }

    double read_value(std::string_view text) {
        if (text == "NaN")
            return std::numeric_limits<double>::quiet_NaN();
        if (text == "+Inf" || text == "-Inf")
            return (text == "+Inf" ? 1 : -1) * std::numeric_limits<double>::infinity();
        // libc++ before 20 has no std::from_chars for this.
        std::istringstream in{std::string(text)};
        in.imbue(std::locale::classic());
        double value = 0;
        if (!(in >> std::noskipws >> value) || in.peek() != std::istringstream::traits_type::eof())
            fail("no number");
        return value;
    }

    /// Of each set of labels: buckets that grow up to infinity, the count, which is the last of them, and a
    /// sum.
    void check_histogram(std::string const& name) {
        std::map<labels, std::map<double, double>> buckets;
        for (auto const& [series, value] : samples)
            if (series.first == name + "_bucket") {
                labels others = series.second;
                if (!others.contains("le"))
                    return fail("a bucket without a bound");
                double const bound = read_value(others["le"]);
                others.erase("le");
                if (!buckets[others].emplace(bound, value).second)
                    return fail("a bound twice");
            }
        if (buckets.empty())
            fail("a histogram without buckets");
        for (auto const& [others, counts] : buckets) {
            double before = 0;
            for (auto const& [bound, count] : counts)
                if (count < std::exchange(before, count))
                    fail("buckets that are not cumulative");
            if (counts.rbegin()->first != std::numeric_limits<double>::infinity())
                fail("no bucket for everything");
            if (value(name + "_count", others) != before)
                fail("a count that is not that of the last bucket");
            if (!value(name + "_sum", others))
                fail("no sum");
        }
    }

    std::string_view rest_, line_;
    std::map<std::string, std::string, std::less<>> types_;
    std::string family_;
};

} // namespace asio_retry::test
