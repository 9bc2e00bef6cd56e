# Doxygen does not know the templates of Boost's that are specialised.
/^template <>$/{
N
s/^template <>\nstruct boost::.*/\n/
}
# What follows is documented apart.
s|/// @{$|/** @{ */|
# Every header is in the list of them.
1s|.*|/** @file */|
# A page that a comment names is a link.
s|\[\(doc/[a-z_/]*\.md\)\](@ref [a-z_]*)|\1|
s|doc/\([a-z]*\)/\([a-z_]*\)\.md|@ref \1_\2|
s~doc/\(start\|concepts\|traffic\|schemes\|versions\)\.md~@ref doc_\1~
