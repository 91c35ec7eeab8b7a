#pragma once

namespace slimbayes {

/// Returns the note for a network that was trained on the log evidence without validation rows.
const char* evidence_overfits();

}  // namespace slimbayes
