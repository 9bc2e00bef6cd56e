#!/bin/sh
# g++ 12 destroys temporary arguments of a `co_await` once more than it makes them.
#
# One would expect: `co_await async_retry(attempt, options{...})` destroys each object once.
# True is: if the argument is a closure or an aggregate made in place, g++ 12 copies its bytes into the
# coroutine's frame, without a constructor, and destroys the copy as well as the original.
# It matters: options and attempts hold shared pointers and handlers. Each such line releases one reference
# too many, and the program dies later, somewhere else, often only after a retry. A named variable, or a
# class with a constructor, is destroyed once.
# Needs g++ 12.
set -eu
echo "g++ $(g++ -dumpfullversion)"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
cd "$folder"

cat >twice.cpp <<'END'
#include <coroutine>
#include <iostream>

int made = 0;
int destroyed = 0;

struct resource // holds nothing, only counts
{
    resource() { ++made; }
    resource(resource const&) { ++made; }
    ~resource() { ++destroyed; }
};

struct aggregate
{
    resource held;
    int attempts;
};

struct with_constructor
{
    resource held;
    with_constructor(resource const& from, int) : held(from) {}
};

struct task
{
    struct promise_type
    {
        task get_return_object() { return {}; }
        std::suspend_never initial_suspend() { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() {}
    };
};

template <class Argument>
std::suspend_never operation(Argument)
{
    return {};
}

task closure(resource const& held)
{
    co_await operation([held] { (void)held; });
}

task aggregate_in_place(resource const& held)
{
    co_await operation(aggregate{held, 3});
}

task aggregate_by_name(resource const& held)
{
    aggregate named{held, 3};
    co_await operation(named);
}

task class_with_constructor(resource const& held)
{
    co_await operation(with_constructor(held, 3));
}

void count(char const* name, task (*run)(resource const&))
{
    {
        resource held;
        made = destroyed = 0;
        run(held);
    }
    std::cout << name << ": made " << made << ", destroyed " << destroyed - 1 << '\n';
}

int main()
{
    count("closure in place", closure);
    count("aggregate in place", aggregate_in_place);
    count("aggregate by name", aggregate_by_name);
    count("class with a constructor", class_with_constructor);
}
END
for level in -O0 -O2; do
    g++ -std=c++20 $level twice.cpp -o twice
    echo "$level"
    ./twice
done >seen
cat seen
diff - seen <<'END' || { echo "This has changed."; exit 1; }
-O0
closure in place: made 1, destroyed 2
aggregate in place: made 1, destroyed 2
aggregate by name: made 2, destroyed 2
class with a constructor: made 1, destroyed 1
-O2
closure in place: made 1, destroyed 2
aggregate in place: made 1, destroyed 2
aggregate by name: made 2, destroyed 2
class with a constructor: made 1, destroyed 1
END
