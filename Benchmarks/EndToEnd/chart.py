"""Draws a bench as SVG: throughput and processor time per record, a bar a contender, the spread as a line."""
import statistics
from xml.sax.saxutils import escape

WIDTH, LABEL, BAR, ROW = 860, 210, 560, 26


def bars(title, unit, values, top):
    largest = max(max(runs) for runs in values.values())
    parts = [f'<text x="16" y="{top}" font-weight="600">{escape(title)}</text>']
    y = top + 14
    for name, runs in values.items():
        middle = statistics.median(runs)
        x = lambda value: LABEL + BAR * value / largest
        colour = "#0f766e" if name.startswith("gate") else "#94a3b8"
        parts.append(f'<text x="16" y="{y + 15}">{escape(name)}</text>'
                     f'<rect x="{LABEL}" y="{y + 3}" width="{x(middle) - LABEL:.1f}" height="16" rx="2" fill="{colour}"/>'
                     f'<path d="M{x(min(runs)):.1f} {y + 11}H{x(max(runs)):.1f}" stroke="#0f172a" stroke-width="1.5"/>'
                     f'<text x="{x(max(runs)) + 6:.1f}" y="{y + 15}">{middle:,.{0 if middle > 100 else 2}f} {unit}</text>')
        y += ROW
    return "\n".join(parts), y + 26


def draw(results, table):
    rate, y = bars("Throughput, median and spread", "/s", {n: [r["rate"] for r in runs] for n, runs in results.items()}, 30)
    cpu, y = bars("Processor time per candidate, client library included", "us",
                  {n: [r["cpu_us"] for r in runs] for n, runs in results.items()}, y)
    notes = []
    for goal, name, values, wanted in table:
        notes.append(f'<text x="16" y="{y}">{escape(goal)}: {escape(name)}: {statistics.median(values):.2f} (goal {escape(wanted)})</text>')
        y += 20
    body = "\n".join([rate, cpu, *notes])
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" font-family="system-ui, \'DejaVu Sans\', '
            f'sans-serif" font-size="13" fill="#0f172a"><rect width="{WIDTH}" height="{y}" fill="#fff"/>\n{body}\n</svg>\n')
