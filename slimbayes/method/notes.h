#pragma once

namespace slimbayes {

/// Returns the note to the user about a network that was trained on the log evidence without validation rows:
/// such a training overfits, and the predicted sd may be far too small.
const char* evidence_overfits();

}  // namespace slimbayes
