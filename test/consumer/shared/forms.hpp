#pragma once

namespace forms {

/// Whether all of them ended as they should.
bool end_in_a_scope();
bool end_when_they_are_cancelled();
bool end_on_a_pool();

} // namespace forms
