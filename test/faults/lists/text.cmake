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

fault(json_takes_false_for_true src/text/policy_json.cpp
    [[    else if (!from.get_bool())]] [[    else if (!from.is_bool())]])
