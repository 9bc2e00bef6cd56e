#include <cstdio>

// Each makes its attempts until the third succeeds, and returns how many there were.
int attempts_with_boost();
int attempts_with_asio();

int main() {
    int const with_boost = attempts_with_boost();
    int const with_asio = attempts_with_asio();
    std::printf("%d attempts with Boost.Asio, %d with Asio\n", with_boost, with_asio);
    return with_boost == 3 && with_asio == 3 ? 0 : 1;
}
