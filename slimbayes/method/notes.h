#pragma once

namespace slimbayes {

/// Returns the note for a network that was trained on the evidence without validation rows.
const char* evidence_overfits();

}  // namespace slimbayes
