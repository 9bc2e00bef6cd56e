# Mistakes in policies as text, and in books of them.

noticed_by(tests_of_text)

fault(book_removes_policies 70 src/text/policy_book.cpp
    [[if (!next->find(each.name))]] [[if (next->all()->empty() && !next->find(each.name))]])

fault(book_frees_what_is_read 70 src/text/published.hpp
    [[wait_for_readers(side);]] [[]])

fault(rate_limit_wakes_nobody_for_another_rate 86 src/traffic/rate_limit.cpp
    [[to_wake_ = waiting_count_;]] [[to_wake_ = 0;]])
