#pragma once

#include <exception>

#if defined(__GLIBCXX__) && defined(__GXX_RTTI)
#include <cstring>
#include <typeinfo>
#endif

namespace asio_retry::detail {

/// Returns the exception if `catch (T const&)` would catch it, otherwise null. It lives as long as `thrown`,
/// since libstdc++ and libc++ rethrow the object itself. Precondition: thrown is not null.
///
/// libstdc++ answers without a rethrow, which would take microseconds.
template <typename T>
T const* thrown_as(std::exception_ptr const& thrown) noexcept {
#if defined(__GLIBCXX__) && defined(__GXX_RTTI)
    void* object = nullptr;
    static_assert(sizeof thrown == sizeof object);
    std::memcpy(&object, &thrown, sizeof object);
    bool const catches = typeid(T).__do_catch(thrown.__cxa_exception_type(), &object, 1);
    return catches ? static_cast<T const*>(object) : nullptr;
#else
    try {
        std::rethrow_exception(thrown);
    } catch (T const& caught) {
        return &caught;
    } catch (...) {
        return nullptr;
    }
#endif
}

} // namespace asio_retry::detail
