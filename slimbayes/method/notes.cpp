#include "slimbayes/method/notes.h"

namespace slimbayes {

const char* evidence_overfits() {
  return "no validation examples: the evidence of a network's features overfits, and nothing ended the "
         "training before it did; the sd may be far too small";
}

}  // namespace slimbayes
