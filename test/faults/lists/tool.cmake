# Mistakes in `asio-retry`.

noticed_by(tool_tests)

fault(explanation_has_a_mean_without_the_cap tool/range_of_delays.hpp
    [[        if (range.greatest <= jitter_.cap())
            return]] [[        if (range.least <= jitter_.cap())
            return]])

fault(explanation_expects_no_last_failure tool/explanation.cpp
    [[        sum.successes += 1 - all_fail;]] [[        sum.successes += 1;]])

fault(number_may_have_letters_behind_it tool/command_line.cpp
    [[error != std::errc() || rest != end || number < least]] [[error != std::errc() || number < least]])
