#pragma once

#include <cassert>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// Links an object into a list. A node without a next one is in no list.
struct list_node {
    list_node* next_node = nullptr;
    list_node* previous_node = nullptr;

    /// Precondition: this is in no list.
    void link_before(list_node& next) noexcept {
        assert(!next_node);
        next_node = &next;
        previous_node = next.previous_node;
        previous_node->next_node = this;
        next.previous_node = this;
    }

    /// Precondition: this is in a list. Returns the node that followed.
    list_node* unlink() noexcept {
        assert(next_node);
        previous_node->next_node = next_node;
        next_node->previous_node = previous_node;
        return std::exchange(next_node, nullptr);
    }
};

/// A base class for objects that are in at most one linked_list of its tag at a time.
template <typename Tag>
class list_hook : list_node {
public:
    bool is_linked() const noexcept { return next_node != nullptr; }

protected:
    list_hook() noexcept = default;
    list_hook(list_hook const&) = delete;
    list_hook& operator=(list_hook const&) = delete;
    ~list_hook() { assert(!is_linked()); }

    /// Also for wait_arrivals, which links such objects without a list.
    template <typename T>
    static list_node* node_of(T& value) noexcept {
        return static_cast<list_hook*>(&value);
    }
    template <typename T>
    static T* value_of(list_node* node) noexcept {
        return static_cast<T*>(static_cast<list_hook*>(node));
    }

private:
    template <typename, typename>
    friend class linked_list;
};

/// A list that owns and allocates nothing: its objects form a ring with its root.
template <typename T, typename Tag = T>
class linked_list {
public:
    linked_list() noexcept = default;
    linked_list(linked_list&& other) noexcept { append(other); }
    linked_list& operator=(linked_list&&) = delete;
    ~linked_list() {
        while (!empty())
            pop_front();
    }

    bool empty() const noexcept { return root_.next_node == &root_; }

    /// Precondition of `front` and `back`: the list is not empty.
    T& front() const noexcept { return *hook::template value_of<T>(root_.next_node); }
    T& back() const noexcept { return *hook::template value_of<T>(root_.previous_node); }

    template <typename Function>
    void for_each(Function function) const noexcept {
        for (list_node* node = root_.next_node; node != &root_; node = node->next_node)
            function(*hook::template value_of<T>(node));
    }

    /// Null if there is none. Precondition: it is in this list.
    T* after(T& value) const noexcept {
        list_node* const node = hook::node_of(value)->next_node;
        return node == &root_ ? nullptr : hook::template value_of<T>(node);
    }

    /// Precondition: it is in no list.
    void push_back(T& value) noexcept { hook::node_of(value)->link_before(root_); }
    void push_front(T& value) noexcept { hook::node_of(value)->link_before(*root_.next_node); }

    void pop_front() noexcept { erase(front()); }

    /// Precondition: it is in some list. Returns the list if that is empty now, otherwise null.
    static linked_list* erase(T& value) noexcept {
        list_node* const next = hook::node_of(value)->unlink();
        static_assert(std::is_standard_layout_v<linked_list>); // so the root is where the list is
        return next == next->next_node ? reinterpret_cast<linked_list*>(next) : nullptr;
    }

    /// Moves all objects of another list to the end of this list.
    void append(linked_list& other) noexcept {
        if (other.empty())
            return;
        other.root_.next_node->previous_node = root_.previous_node;
        other.root_.previous_node->next_node = &root_;
        root_.previous_node->next_node = other.root_.next_node;
        root_.previous_node = other.root_.previous_node;
        other.root_ = {&other.root_, &other.root_};
    }

private:
    using hook = list_hook<Tag>;

    list_node root_{&root_, &root_};
};

} // namespace asio_retry::detail
