#pragma once

#include <chrono>
#include <string>

#include "slimbayes/train/callback.h"

namespace slimbayes::cli {

/// While an object of this class lives, the first Ctrl-C, SIGTERM (timeout, a batch system), SIGHUP (a closed
/// terminal) or SIGXCPU (a limit on processor time) asks the fit to stop. A further signal more than half a
/// second later kills the process, except SIGXCPU, which the system repeats until its hard limit kills. A
/// closed stderr does not end the fit. SIGHUP stays ignored under nohup.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  static bool interrupted();
};

/// Prints a fit's progress to stderr: on a terminal as one line that is redrawn and fits the width, otherwise
/// as a new line every few seconds.
class ProgressPrinter : public Callback {
 public:
  explicit ProgressPrinter(const std::string& title);
  ~ProgressPrinter() override;

  void report(const Progress& progress) override;
  void stage(const std::string& name) override;
  void note(const std::string& sentence) override;
  bool stop() override { return InterruptGuard::interrupted(); }

 private:
  void clear();

  std::string title_, stage_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point printed_;
};

/// Writes a line to the log, on stderr.
void log_line(const std::string& text);

/// Writes a note to the log, unless this process has written the same one before: a fit reports some notes
/// before and after the training, and several fits on one table report the same. `of` names what the note is
/// about, such as a method.
void log_note(const std::string& sentence, const std::string& of = "");

}  // namespace slimbayes::cli
