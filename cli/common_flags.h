#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace slimbayes::cli {

// Flags that several commands share. Each function adds a flag to a command (add_column_changes adds two:
// --rename and --fill) and writes its value to the variable.

void add_threads(CLI::App& app, int& threads);
void add_table_memory(CLI::App& app, uint64_t& bytes);
void add_preset(CLI::App& app, std::string& preset);
void add_level(CLI::App& app, double& level);
void add_sets(CLI::App& app, std::string& sets);
/// `of` names the data that the flags change; `when` says when they apply.
void add_column_changes(CLI::App& app, std::vector<std::string>& rename, std::vector<std::string>& fill,
                        const std::string& of, const std::string& when);
/// `blank`: whether "blank" is a choice, which keeps a bad row with empty cells.
void add_on_bad_row(CLI::App& app, std::string& choice, const std::string& help, bool blank);

}  // namespace slimbayes::cli
