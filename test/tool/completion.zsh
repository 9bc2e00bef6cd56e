# Types command lines into a zsh on a terminal of its own, and looks at what it completes. The program is in PATH.
zmodload zsh/zpty || exit 1
typeset -i failures=0

# typed TEXT: what the line is after TEXT and a tab, in REPLY.
typed() {
    local read_so_far= part
    zpty -w shell $'\C-u'"$1"$'\t'$'\C-x\C-l'
    repeat 200; do
        zpty -r -t shell part && read_so_far+=$part
        [[ $read_so_far == *'<'*'>'* ]] && break
        sleep 0.05
    done
    REPLY=${${read_so_far##*<}%%>*}
}

expect() {
    typed "$1"
    [[ $REPLY == "$2" ]] && return
    print -r -- "after '$1': '$REPLY', and not '$2'"
    failures+=1
}

folder=$(mktemp -d) || exit 1
asio-retry completion zsh > $folder/_asio-retry || exit 1
zpty shell "$ZSH_OF_TEST -f"
zpty -w shell "PS1=; stty -echo 2>/dev/null; module_path=($module_path); fpath=($folder $fpath)"
zpty -w shell 'autoload -Uz compinit && compinit -u -D; unsetopt list_beep'
zpty -w shell 'show-line() { print -rn -- "<$BUFFER>" }; zle -N show-line; bindkey "^X^L" show-line; bindkey "^U" kill-whole-line'
zpty -w shell 'print -r -- prepa""red'
zpty -r -m shell ready '*prepared*' || exit 1
expect 'asio-retry expl' 'asio-retry explain '
expect 'asio-retry simulate amp' 'asio-retry simulate amplification '
expect 'asio-retry help pro' 'asio-retry help profiles '
expect 'asio-retry help simulate amp' 'asio-retry help simulate amplification '
expect 'asio-retry help simulate expl' 'asio-retry help simulate expl'
expect 'asio-retry help explain expl' 'asio-retry help explain expl'
expect 'asio-retry explain go_backo' 'asio-retry explain go_backoff '
expect 'asio-retry explain --failure-p' 'asio-retry explain --failure-probability='
expect 'asio-retry explain --format=cs' 'asio-retry explain --format=csv '
expect 'asio-retry simulate occ --tr' 'asio-retry simulate occ --trials='
expect 'asio-retry profiles --format js' 'asio-retry profiles --format json '
zpty -d shell
rm -rf $folder
exit $((failures != 0))
