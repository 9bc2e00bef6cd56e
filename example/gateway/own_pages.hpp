#pragma once

#include "session.hpp"

#include <optional>

namespace gateway {

/// What the gateway answers itself, and passes on to no server; none if it does not.
std::optional<response> answer_itself(request const& question, services& shared);

} // namespace gateway
