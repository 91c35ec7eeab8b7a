#include "slimbayes/report/page_style.h"

#include "slimbayes/report/chart.h"

namespace slimbayes {
namespace {

constexpr const char* kVariables = R"css(
:root{color-scheme:light dark;--page:#f5f6f8;--card:#fff;--ground:#fff;--text:#1d2530;--muted:#5f6b7a;
--line:#dfe4ea;--blue:#2563b0;--blue-rgb:37,99,176;--orange:#d9640b;--green:#2b8055;--purple:#7a52c7;
--grey:#7b8794;--red:#c0352b;--warn:#fff4e5;--warn-line:#e8a24a}
@media (prefers-color-scheme:dark){:root{--page:#12161b;--card:#1a1f26;--ground:#1a1f26;--text:#e3e8ee;
--muted:#9aa6b4;--line:#333c47;--blue:#6ea8f0;--blue-rgb:110,168,240;--orange:#f2994a;--green:#62c08f;
--purple:#b596f0;--grey:#8592a1;--red:#f07f76;--warn:#33281a;--warn-line:#a8762f}}
)css";

constexpr const char* kText = R"css(
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);line-height:1.5;
font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;font-size:15.5px}
main{max-width:1000px;margin:0 auto;padding:40px 20px 64px}
h1{font-size:30px;line-height:1.2;margin:4px 0 12px;letter-spacing:-.01em;overflow-wrap:anywhere}
section>.how{margin:-6px 0 14px;max-width:60em}
h2{font-size:21px;margin:44px 0 14px;letter-spacing:-.005em}
h3{font-size:15.5px;margin:0 0 4px;overflow-wrap:anywhere}
p{margin:0 0 10px}
.kicker{color:var(--muted);font-size:13px;letter-spacing:.04em;margin:0}
.lead{font-size:18px;line-height:1.45;max-width:46em;margin-bottom:8px}
.muted,.how{color:var(--muted)}
.how{font-size:13.5px;line-height:1.45;margin:10px 0 0}
.says{margin:0 0 10px;line-height:1.4}
bdi,td,th,h1,h3,dd,li{unicode-bidi:isolate}
nav{display:flex;flex-wrap:wrap;gap:4px 16px;margin:18px 0 4px;font-size:14px}
a{color:var(--blue);text-decoration:none}
a:hover{text-decoration:underline}
footer{margin-top:48px;color:var(--muted);font-size:13px}
ul{margin:0;padding-left:20px}
li{margin:4px 0;overflow-wrap:anywhere}
)css";

constexpr const char* kBoxes = R"css(
figure,.box{margin:0;background:var(--card);border:1px solid var(--line);border-radius:10px;padding:16px 18px;
min-width:0}
.grid{display:grid;gap:16px;grid-template-columns:repeat(auto-fit,minmax(min(100%,420px),1fr))}
.three{display:grid;gap:16px;grid-template-columns:repeat(auto-fill,minmax(min(100%,290px),1fr))}
.pair{gap:16px 32px;grid-template-columns:repeat(auto-fit,minmax(min(100%,400px),1fr))}
.stack{display:grid;gap:16px;grid-template-columns:minmax(0,1fr)}
.chart{display:block;width:100%;height:auto}
.warning{background:var(--warn);border:1px solid var(--warn-line);border-radius:10px;padding:12px 18px;
margin:16px 0}
.warning p{margin:4px 0}
.scores{display:grid;gap:12px;grid-template-columns:repeat(auto-fill,minmax(min(100%,280px),1fr))}
.score{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:12px 14px;min-width:0}
.score .label{color:var(--muted);font-size:13px;display:flex;justify-content:space-between;gap:8px}
.score .value{font-size:25px;line-height:1.25;font-variant-numeric:tabular-nums;letter-spacing:-.01em}
.score .word{font-size:13.5px;line-height:1.4;margin:2px 0 0}
.pill{border:1px solid currentColor;border-radius:9px;font-size:11.5px;line-height:16px;padding:0 7px;
align-self:flex-start}
.good{color:var(--green)}.fair{color:var(--muted)}.poor{color:var(--red)}
dl{display:grid;grid-template-columns:minmax(90px,max-content) minmax(0,1fr);gap:6px 18px;margin:0}
dt{color:var(--muted)}
dd{margin:0;overflow-wrap:anywhere}
.chips{display:flex;flex-wrap:wrap;gap:6px}
.chip{border:1px solid var(--line);border-radius:7px;padding:0 8px;font-size:13.5px;max-width:100%;
overflow-wrap:anywhere}
details>summary{cursor:pointer;margin-bottom:6px}
.chip .muted{font-size:12px;margin-left:.45em}
)css";

constexpr const char* kTables = R"css(
.scroll{overflow-x:auto;max-width:100%}
table{border-collapse:collapse;width:100%;font-size:14px}
th{text-align:left;font-weight:600;color:var(--muted);font-size:13px;border-bottom:1px solid var(--line);
padding:5px 10px 5px 0;vertical-align:bottom;white-space:nowrap}
td{border-bottom:1px solid var(--line);padding:6px 10px 6px 0;vertical-align:middle}
tbody tr:last-child td{border-bottom:0}
.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
td:last-child,th:last-child{padding-right:0}
.name{min-width:8em;max-width:18em;overflow-wrap:anywhere}
.plain td{white-space:nowrap}
code{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:.92em;white-space:nowrap}
.bar{display:block;width:100%;min-width:90px;height:10px}
.bar .track,.strip .axis{fill:none;stroke:none}
.strip{display:block;min-width:116px}
.strip .axis{stroke:var(--line)}
.strip .band{fill:var(--grey);fill-opacity:.28}
.strip .expected{stroke:var(--grey);stroke-width:1.4}
.heat{width:auto}
.heat td,.heat th{padding:6px 10px;text-align:center;border:2px solid var(--card);white-space:nowrap}
.heat td{background:rgba(var(--blue-rgb),var(--a,0));border-radius:4px;min-width:44px;
font-variant-numeric:tabular-nums}
.heat td:first-child{text-align:right;background:none}
@media (max-width:640px){main{padding:24px 14px 48px}h1{font-size:25px}.lead{font-size:16.5px}
figure,.box{padding:14px 14px}.wide .chart{min-width:720px}
.chart .tick,.chart .key,.chart .sub{font-size:13px}.chart .label{font-size:14px}.scores{grid-template-columns:1fr 1fr}
.score .value{font-size:22px}dl{grid-template-columns:minmax(0,1fr);gap:0}dd{margin-bottom:8px}}
@media print{body{background:#fff}figure,.box,.score{break-inside:avoid}}
)css";

}  // namespace

std::string page_style() { return std::string(kVariables) + chart_style() + kText + kBoxes + kTables; }

}  // namespace slimbayes
