# Mistakes in policies as text and as JSON.

noticed_by(tests_of_text)

fault(text_takes_a_fraction_of_a_nanosecond src/text/number.cpp
    [[    if (digits % (scale / common) != 0)
        return std::nullopt;
]] [[]])

fault(text_takes_more_than_a_duration_holds src/text/number.cpp
    [[*whole > (greatest - part) / unit)]] [[*whole > greatest / unit)]])

fault(builder_makes_a_flag_of_false src/text/build.cpp
    [[a.has("beyond_cap") && a.flag("beyond_cap") ?]] [[a.has("beyond_cap") ?]])

fault(parser_takes_an_exponent_without_digits src/text/parse.cpp
    [[            if (take_digits() == 0)
                next_ = behind_mantissa;]] [[            take_digits();
            static_cast<void>(behind_mantissa);]])

fault(writer_forgets_the_unit_of_a_jitter src/text/terms.cpp
    [[    if (kind.unit() != duration(1))]] [[    if (kind.unit() > std::chrono::seconds(1))]])

fault(json_escapes_no_slash src/text/policy_json.cpp
    [[            inner.path += "~1";]] [[            inner.path += c;]])

fault(lines_count_bytes_as_columns src/text/policy_lines.cpp
    [[(static_cast<unsigned char>(c) & 0xc0) != 0x80]] [[(static_cast<unsigned char>(c) & 0xc0) != 0x100]])

fault(lines_take_a_name_twice src/text/policy_lines.cpp
    [[        names_.insert(name_before(line));]] [[]])

fault(lines_take_a_text_without_policies src/text/policy_lines.cpp
    [[        if (found_.empty())
            fail_in_lines(]] [[        if (text_.size() > 4096)
            fail_in_lines(]])

fault(book_removes_policies src/text/policy_book.cpp
    [[            if (!next->find(each.name))]] [[            if (next->all()->empty() && !next->find(each.name))]])

fault(book_checks_a_reload_before_its_turn src/text/policy_book.cpp
    [[        std::lock_guard const lock(mutex_);
        auto const present = all();]] [[        auto const present = all();
        std::lock_guard const lock(mutex_);]])

fault(book_frees_what_is_read src/text/published.hpp
    [[        wait_for_readers(side);]] [[]])

fault(book_leaves_readers_on_their_side src/text/published.hpp
    [[        side_.store(other);]] [[]])

fault(json_keeps_the_last_of_two_policies src/text/policy_json_file.cpp
    [[    if (keys.size() == 1)]] [[    if (keys.size() == 2)]])
