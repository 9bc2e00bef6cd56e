# fault(name file [[text]] [[replacement]]): a mistake in reading or writing a policy as text or JSON.

noticed_by(tests_of_text)

fault(text_takes_a_flag_that_is_there_for_one_that_is_set src/text/setting_forms.hpp
    [[bool const clamps = a.has("clamp") && a.flag("clamp"),]] [[bool const clamps = a.has("clamp"),]])

fault(text_does_not_mention_an_observer src/text/terms.cpp
    [[    list.add_stand_in_if(s.observer != nullptr, "observe", "observer");
]] [[]])

fault(text_has_no_space_before_the_arguments_of_an_argument src/text/parse.cpp
    [[            skip_space();
            if (peek() != '(')
                fail_expecting(made.at, "a value", name, did]] [[            if (peek() != '(')
                fail_expecting(made.at, "a value", name, did]])

# --- numbers

fault(text_has_minutes_of_a_hundred_seconds src/policy/duration_units.hpp
    [[{"min", 60'000'000'000}]] [[{"min", 100'000'000'000}]])

fault(text_takes_a_fraction_of_a_nanosecond src/text/number.cpp
    [[    if (digits % (scale / common) != 0)
        return std::nullopt;
]] [[]])

fault(text_takes_one_digit_less src/text/number.cpp
    [[constexpr std::size_t most_digits = 13;]] [[constexpr std::size_t most_digits = 12;]])

fault(text_minds_zeros_at_the_end src/text/number.cpp
    [[    fraction = fraction.substr(0, fraction.find_last_not_of('0') + 1);
]] [[]])

fault(text_takes_more_than_a_duration_holds src/text/number.cpp
    [[*whole > (greatest - part) / unit)]] [[*whole > greatest / unit)]])

fault(text_has_no_least_duration src/text/number.cpp
    [[(duration::max().count()) + (is_negative ? 1 : 0);]] [[(duration::max().count());]])

fault(text_takes_a_point_without_digits src/text/number.cpp
    [[        if (fraction.empty())
            fail_expecting(at, whole.empty() ? "a duration such as 500ms" : "a digit behind the point", word);
]] [[]])

fault(text_takes_what_is_not_wholly_a_number src/text/number.cpp
    [[read.ec == std::errc() && read.ptr == end ?]] [[read.ec == std::errc() ?]])

fault(text_takes_a_number_that_is_too_large src/text/number.cpp
    [[return is_too_large ? std::nullopt : std::optional(value);]] [[return is_too_large ? std::optional(value) : std::optional(value);]])

# --- the arguments of an item

fault(arguments_follow_named_ones_without_a_name src/text/arguments.cpp
    [[else if (!named_.empty())]] [[else if (named_.size() > 1)]])

fault(arguments_may_be_missing src/text/arguments.cpp
    [[!p.is_optional && !has(p.name))]] [[!p.is_optional && in_order_.empty() && !has(p.name))]])

fault(arguments_may_be_too_many src/text/arguments.cpp
    [[    if (next == own.size() || own[next].name.empty())
        fail_expecting(a.at, "no further argument of " + term_.name, a.word);
]] [[    if (next == own.size() || own[next].name.empty())
        return;
]])

fault(arguments_may_be_given_twice src/text/arguments.cpp
    [[                if (has(p.name))]] [[                if (has(p.name) && in_order_.empty())]])

fault(arguments_are_of_any_type src/text/arguments.cpp
    [[    if (p.kind == parameter_kind::a_whole_number && !read_whole(digits_in(a)))]]
    [[    if (p.kind == parameter_kind::a_number && !read_whole(digits_in(a)))]])

# --- the items

fault(builder_reads_stand_ins src/text/unreadable.cpp
    [[    if (item != std::end(unreadable_items) &&]]
    [[    if (item != std::end(unreadable_items) && item != std::begin(unreadable_items) &&]])

fault(builder_takes_a_slip_for_a_stand_in src/text/unreadable.cpp
    [[return a.quoted.empty() && std::holds]] [[return std::holds]])

fault(builder_takes_one_rule_of_a_name src/text/build.cpp
    [[            if (!setting->may_be_repeated)
]] [[]])

fault(builder_takes_any_failure_and_kinds src/text/build.cpp
    [[name == "any_failure" ? "retry_if" : name;]] [[name;]])

fault(json_takes_one_rule_of_a_name src/text/policy_json.cpp
    [[return setting && setting->may_be_repeated && all]] [[return setting && setting->is_list && all]])

fault(json_takes_the_arguments_of_a_rule_for_rules src/text/policy_json.cpp
    [[(all->empty() || !all->front().is_string())]] [[(all->empty() || all)]])

fault(text_suggests_no_unit src/text/arguments.cpp
    [[    if (kind == parameter_kind::a_duration && std::holds_alternative<number_word>(a.value)) {]]
    [[    if (kind == parameter_kind::a_number && std::holds_alternative<number_word>(a.value)) {]])

fault(text_suggests_no_name_without_parentheses src/text/policy_profiles.cpp
    [[question = similar_name(name); is_one_word]] [[question = ""; is_one_word]])

fault(builder_forgets_the_cap_of_a_jitter src/text/build.cpp
    [[        if (a.has("cap"))
            made]] [[        if (!a.has("cap"))
            return made;
        if (a.has("unit"))
            made]])

fault(builder_makes_a_flag_of_false src/text/build.cpp
    [[a.has("beyond_cap") && a.flag("beyond_cap") ?]] [[a.has("beyond_cap") ?]])

fault(builder_takes_two_limits_of_attempts src/text/build.cpp
    [[return name == "unlimited_attempts" ? "max_attempts" :]] [[return]])

fault(builder_takes_a_profile_anywhere src/text/build.cpp
    [[        if (!is_first)
            fail]] [[        if (!is_first && !seen_.empty() && seen_.empty())
            fail]])

fault(builder_takes_arguments_of_a_profile src/text/build.cpp
    [[        bound_arguments(item, {}, {}, false);
]] [[]])

fault(builder_mixes_up_timeouts src/text/setting_forms.hpp
    [[return p.total_timeout(a.time("greatest"));]] [[return p.attempt_timeout(a.time("greatest"));]])

fault(profiles_are_found_by_another_name src/text/policy_profiles.cpp
    [[return found ?]] [[return found && name != "grpc" ?]])

# --- the text

fault(parser_needs_no_space_between_items src/text/parse.cpp
    [[            if (!found.empty() && !is_one_of(white_space, text_[next_ - 1]))
                expect("white space or the end", hint_behind(found.back().at));
]] [[]])

fault(parser_takes_a_comma_at_the_end src/text/parse.cpp
    [[            if (peek() == ')')
                expect("an argument");
]] [[]])

fault(parser_counts_depth_of_what_is_over src/text/parse.cpp
    [[        --depth_;
]] [[]])

fault(parser_has_names_with_a_digit_in_front src/text/parse.cpp
    [[(next_ != begin && is_one_of(digits, text_[next_]))))]] [[is_one_of(digits, text_[next_])))]])

fault(parser_takes_an_exponent_without_digits src/text/parse.cpp
    [[            if (take_digits() == 0)
                next_ = behind_mantissa;]] [[            take_digits();
            static_cast<void>(behind_mantissa);]])

fault(parser_takes_a_minus_for_a_number src/text/parse.cpp
    [[        if (count == 0) {]] [[        if (count == 0 && next_ == begin) {]])

fault(parser_shows_nothing_of_what_it_found src/text/parse.cpp
    [[        if (take_name().empty() && take_digits() == 0 && next_ != text_.size())
            ++next_;]] [[        if (take_name().empty() && take_digits() == 0 && next_ != text_.size())
            next_ = text_.size();]])

fault(writer_forgets_a_cap src/text/terms.cpp
    [[    if (shape.cap() != duration::max())
        argument_writer]] [[    if (shape.cap() == duration::max())
        argument_writer]])

fault(writer_forgets_the_unit_of_a_jitter src/text/terms.cpp
    [[    if (kind.unit() != duration(1))]] [[    if (kind.unit() > std::chrono::seconds(1))]])

fault(writer_forgets_that_a_jitter_is_beyond_the_cap src/text/terms.cpp
    [[        write.add("beyond_cap", true);]] [[        write.add("beyond_cap", false);]])

fault(writer_forgets_a_gate src/text/terms.cpp
    [[list.add_stand_in_if(s.gate != nullptr, "gate", "gate");]] [[list.add_stand_in_if(false, "gate", "gate");]])

fault(writer_names_no_further_argument src/text/policy_text.cpp
    [[        is_named = true;
]] [[]])

fault(message_shows_what_cannot_be_shown src/text/shown_text.cpp
    [[if (byte >= 0x20 && byte < 0x7f)]] [[if (byte >= 0x20)]])

fault(message_is_as_long_as_the_text src/text/shown_text.cpp
    [[found.substr(0, most)) {]] [[found) {]])

fault(message_has_another_position src/text/policy_text.cpp
    [[    throw policy_syntax_error(at.offset, message);]] [[    throw policy_syntax_error(at.offset + 1, message);]])

fault(depth_is_one_more_than_may_be src/text/policy_text.cpp
    [[    if (depth > greatest_depth)]] [[    if (depth > greatest_depth + 1)]])

fault(text_takes_a_cap_of_cpp_for_an_item src/text/parse.cpp
    [[            if (setter == name) {]] [[            if (setter != name && setter.empty()) {]])

fault(text_says_no_more_of_a_space_before_a_unit src/text/parse.cpp
    [[        if (std::holds_alternative<number_word>(last.value) &&]] [[        if (std::holds_alternative<bool>(last.value) &&]])

fault(text_knows_no_alias_of_a_unit src/text/number.cpp
    [[        if (alias.name == found)]] [[        if (alias.name.empty())]])

# --- JSON

fault(json_minds_no_quotation_marks src/text/policy_json.cpp
    [[        to.quoted = text;
]] [[]])

fault(json_shows_numbers_as_boost_does src/text/shown_json.hpp
    [[    if (std::string const digits = digits_of(from); !digits.empty())]] [[    if (std::string const digits = digits_of(from); !digits.empty() && from.is_int64())]])

fault(json_escapes_no_slash src/text/policy_json.cpp
    [[            inner.path += "~1";]] [[            inner.path += c;]])

fault(json_takes_a_backoff_of_many_keys src/text/policy_json.cpp
    [[        if (inner->size() != 1)]] [[        if (inner->empty())]])

fault(json_has_profiles_in_the_order_of_their_keys src/text/policy_json.cpp
    [[    profiles.insert(profiles.end(), others.begin(), others.end());
    return profiles;]] [[    others.insert(others.end(), profiles.begin(), profiles.end());
    return others;]])

fault(json_takes_false_for_true src/text/policy_json.cpp
    [[    else if (!from.get_bool())]] [[    else if (!from.is_bool())]])

fault(text_guesses_what_is_far src/text/nearest.cpp
    [[(found.size() + 2) / 4 + 1]] [[found.size()]])

fault(text_guesses_the_last_name src/text/nearest.cpp
    [[        least_ = distance;
]] [[]])

fault(json_has_a_status_code_ok src/text/policy_json.cpp
    [[if (found == end || found == std::begin(grpc_status_codes))]] [[if (found == end)]])

fault(json_has_status_codes_twice src/text/policy_json.cpp
    [[        if (std::find(codes.begin(), codes.end(), code) == codes.end())
            codes]] [[        if (code != "OK")
            codes]])

fault(json_has_more_attempts_than_grpc src/text/policy_json.cpp
    [[return std::min(*count, most_attempts);]] [[return std::max(*count, most_attempts);]])

fault(json_takes_a_backoff_of_nothing src/text/policy_json.cpp
    [[    if (read <= duration::zero())]] [[    if (read < duration::zero())]])

fault(json_is_capped_below_its_base src/text/policy_json.cpp
    [[exponential(std::min(initial, greatest), multiplier).cap(greatest);]] [[exponential(initial, multiplier).cap(greatest);]])

fault(json_has_whole_doubles_with_an_exponent src/text/shown_json.hpp
    [[std::abs(*number) < 0x1p63 &&]] [[std::abs(*number) < 1e5 &&]])

fault(text_has_a_spread_below_zero src/policy/retry_policy.cpp
    [[s.pushback_spread = share + 0.0;]] [[s.pushback_spread = share;]])

fault(json_looks_at_false_before_the_name src/text/policy_json.cpp
    [[        (void)build_policy({read});]] [[        ]])

fault(json_tells_profiles_to_be_first src/text/policy_json.cpp
    [[        if (is_profile && !profiles.empty())]] [[        if (is_profile && profiles.size() > 1)]])

fault(parser_has_units_of_ascii_alone src/text/parse.cpp
    [[            if (take_unit().empty())]] [[            if (take_name().empty())]])

fault(parser_does_not_say_what_the_point_lacks src/text/parse.cpp
    [[            if (count != 0 && behind_point == 0)]] [[            if (count == 0 && behind_point == 0)]])

fault(text_knows_one_micro_of_two src/text/number.cpp
    [[{"\xce\xbcs", "us"}]] [[{"\xce\xbcs", "ns"}]])
