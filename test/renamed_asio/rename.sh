#!/bin/sh
# rename.sh classes|members INCLUDE-FOLDER FOLDER: copies Asio's headers, in which private classes that the library uses, or
# members of such classes, have other names.
set -eu
case "$1" in
classes)
    names='scheduler|win_iocp_io_context|executor_op|thread_context|thread_info_base'
    names="$names|awaitable_frame_base|awaitable_frame|awaitable_thread|awaitable_thread_entry_point"
    ;;
members)
    names='post_immediate_completion|work_started|work_finished|concurrency_hint|top_of_thread_call_stack'
    names="$names|awaitable_frame_tag|attached_thread_|entry_point|pending_exception_|cancellation_state_"
    names="$names|parent_cancellation_slot_|throw_if_cancelled_|push_frame|frame_|u_"
    ;;
esac
rm -rf "$3"
mkdir -p "$3/boost"
cp -R "$2/boost/asio" "$2/boost/asio.hpp" "$3/boost/"
# Names of files stay, and so do those of settings, which are public.
grep -rlwE "$names" "$3" | xargs sed -i -E "/^ *# *include/! { s/\b($names)\b/\1_renamed/g; s/\"([a-z_]+)_renamed\"/\"\1\"/g; }"
touch "$3/renamed"
