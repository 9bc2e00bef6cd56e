# Doxygen does not know the templates of Boost's that are specialised.
/^template <>$/{
N
s/^template <>\nstruct boost::.*/\n/
}
# What follows is documented apart.
s|/// @{$|/** @{ */|
# Every header is in the list of them.
1s|.*|/** @file */|
