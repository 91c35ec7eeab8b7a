#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace slimbayes::cli {

// Flags that several commands share. Each function adds one flag to the command `app`, which writes its value
// to the variable; add_column_changes adds two flags, --rename and --fill.

/// The help of the data of a command that scores a model.
inline constexpr const char* kTargetedFiles =
    "data with their target, - for CSV on stdin; several files, or a folder of them, as one table";

void add_threads(CLI::App& app, int& threads);
void add_device(CLI::App& app, std::string& device);
void add_table_memory(CLI::App& app, uint64_t& bytes);
void add_preset(CLI::App& app, std::string& preset);
void add_level(CLI::App& app, double& level);
void add_sets(CLI::App& app, std::string& sets);
/// Adds --rename and --fill. The help text uses `of` as the name of the data whose columns the flags change,
/// such as "DATA"; `when` is a remark for it.
void add_column_changes(CLI::App& app, std::vector<std::string>& rename, std::vector<std::string>& fill,
                        const std::string& of, const std::string& when);
/// Adds --on-bad-row, with the choices "error" and "skip". With `blank`, "blank" is a choice too: it keeps a
/// row that has no finite answer, with empty cells.
void add_on_bad_row(CLI::App& app, std::string& choice, const std::string& help, bool blank);

}  // namespace slimbayes::cli
