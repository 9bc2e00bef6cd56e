#include <dlfcn.h>

#include <cstdio>

int main(int, char** argv) {
    void* const plugin = ::dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!plugin) {
        std::puts(::dlerror());
        return 1;
    }
    auto const attempts = reinterpret_cast<int (*)()>(::dlsym(plugin, "attempts_in_the_plugin"));
    return attempts && attempts() == 3 ? 0 : 1;
}
