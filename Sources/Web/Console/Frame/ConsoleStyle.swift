/// The looks of the console, in daylight, in the dark, on a phone and on paper.
enum ConsoleStyle {
  static let text: StaticString = """
    :root { color-scheme: light dark; --back: #f3f4f7; --card: #fff; --text: #14171c; --soft: #59616c;
      --line: #d9dde4; --act: #0b57d0; --on-act: #fff; --go: #0f6b33; --go-back: #e2f3e8;
      --wait: #7a4a00; --wait-back: #fdf0d5; --stop: #a5231a; --stop-back: #fbe6e4; --note: #5142a8;
      --note-back: #ebe9fa; --given: #0b57d0; --given-back: #e3edfc; --shade: 0 1px 2px #10182014; }
    @media (prefers-color-scheme: dark) {
      :root { --back: #0e1013; --card: #181b20; --text: #e9ecf0; --soft: #a3abb6; --line: #333941;
        --act: #8ab4f8; --on-act: #0b1320; --go: #7fd49b; --go-back: #14301f; --wait: #f2c46d;
        --wait-back: #352710; --stop: #f5a198; --stop-back: #3a1916; --note: #b9b0f5;
        --note-back: #241f45; --given: #8ab4f8; --given-back: #14263f; --shade: none; }
    }
    * { box-sizing: border-box; }
    html { scroll-padding-top: 76px; }
    body { margin: 0; background: var(--back); color: var(--text); font: 15px/1.5 system-ui,
      -apple-system, "Segoe UI", Roboto, "PingFang SC", "Noto Sans CJK SC", sans-serif; }
    main { max-width: 1080px; margin: 0 auto; padding: 20px 16px 40px; }
    h1 { margin: 0; font-size: 24px; line-height: 1.3; overflow-wrap: anywhere; }
    h2 { margin: 0 0 4px; font-size: 18px; line-height: 1.35; }
    h3 { margin: 0; font-size: 15px; line-height: 1.4; }
    p { margin: 0 0 8px; overflow-wrap: anywhere; }
    a { color: var(--act); text-underline-offset: 2px; }
    code { font: 13px/1.4 ui-monospace, "SF Mono", Menlo, Consolas, monospace;
      overflow-wrap: anywhere; }
    .id { overflow-wrap: anywhere; font-weight: 600; }
    .soft { color: var(--soft); font-size: 14px; }
    .small { font-size: 13px; }
    .away { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
    .skip { position: absolute; left: -999px; }
    .skip:focus { left: 8px; top: 8px; z-index: 3; padding: 12px; background: var(--card); }
    :focus-visible { outline: 3px solid var(--act); outline-offset: 2px; }
    .icon { width: 1.15em; height: 1.15em; flex: none; fill: none; stroke: currentColor;
      stroke-width: 2.2; stroke-linecap: round; stroke-linejoin: round; vertical-align: -0.2em; }

    .bar { position: sticky; top: 0; z-index: 2; display: flex; flex-wrap: wrap; gap: 8px 20px;
      align-items: center; padding: 10px 16px; background: var(--card);
      border-bottom: 1px solid var(--line); }
    .brand { display: inline-flex; gap: 8px; align-items: center; min-height: 44px; color: inherit;
      font-size: 17px; font-weight: 700; text-decoration: none; }
    .brand .icon { color: var(--act); }
    .find { display: flex; flex: 1 1 320px; gap: 8px; max-width: 560px; }
    input:not([type=hidden]) { flex: 1; min-width: 0; min-height: 44px; padding: 8px 12px;
      border: 1px solid var(--line); border-radius: 8px; background: var(--back); color: inherit;
      font: inherit; }
    .button { min-height: 44px; padding: 8px 16px; border: 1px solid var(--act); border-radius: 8px;
      background: var(--act); color: var(--on-act); font: inherit; font-weight: 600;
      cursor: pointer; text-decoration: none; display: inline-flex; align-items: center; }
    .quiet { background: transparent; color: var(--act); }
    .places { display: flex; gap: 4px; }
    .places a { padding: 10px; border-radius: 8px; text-decoration: none; }
    .places a:hover { background: var(--back); }
    [aria-current] { color: inherit; font-weight: 600; text-decoration: none; }
    .foot { display: flex; flex-wrap: wrap; gap: 8px 24px; align-items: center;
      justify-content: space-between; max-width: 1080px; margin: 0 auto; padding: 16px;
      border-top: 1px solid var(--line); color: var(--soft); font-size: 14px; }
    .foot form { display: flex; flex-wrap: wrap; gap: 12px; align-items: center; }
    .foot nav a { display: inline-block; padding: 12px 0; }
    .fresh::before, .stale::before { content: ""; display: inline-block; width: 9px; height: 9px;
      margin-right: 7px; border-radius: 50%; background: var(--go); }
    .stale { color: var(--wait); font-weight: 600; }
    .stale::before { background: var(--wait); }

    .card { margin: 0 0 20px; padding: 16px 18px; background: var(--card);
      border: 1px solid var(--line); border-radius: 12px; box-shadow: var(--shade); }
    .narrow { max-width: 460px; margin: 32px auto; }
    .stack { display: grid; gap: 14px; }
    .stack .button { justify-content: center; }
    .heading { display: flex; flex-wrap: wrap; gap: 4px 16px; align-items: baseline;
      justify-content: space-between; margin: 0 0 14px; }
    .kind { color: var(--soft); font-size: 13px; font-weight: 600; letter-spacing: .04em; }
    .notice { padding: 10px 14px; border: 1px solid var(--line); border-left: 4px solid var(--wait);
      border-radius: 8px; background: var(--card); margin: 0 0 16px; }
    .bad { border-left-color: var(--stop); }
    .good { border-left-color: var(--go); }

    .pill { display: inline-flex; gap: 5px; align-items: center; padding: 2px 10px 2px 8px;
      border-radius: 999px; font-size: 14px; font-weight: 650; white-space: nowrap; }
    .approved { background: var(--go-back); color: var(--go); }
    .deferred { background: var(--wait-back); color: var(--wait); }
    .dropped { background: var(--stop-back); color: var(--stop); }

    .now { width: 100%; border-collapse: collapse; table-layout: fixed; }
    .now th, .now td { padding: 10px 12px 10px 0; border-top: 1px solid var(--line);
      text-align: left; vertical-align: top; }
    .now thead th { border: 0; padding-top: 0; color: var(--soft); font-size: 13px; }
    .now tbody th { font-weight: 400; overflow-wrap: anywhere; }
    .now .soft { display: block; margin-top: 4px; font-size: 13px; line-height: 1.4; }

    .legend { display: flex; flex-wrap: wrap; gap: 6px 28px; margin: 0 0 14px; padding: 0;
      list-style: none; color: var(--soft); font-size: 14px; }
    .legend li { display: flex; gap: 9px; align-items: flex-start; flex: 1 1 300px; }
    .legend b { color: var(--text); }

    .day { margin: 22px 0 10px; color: var(--soft); font-size: 14px; font-weight: 600; }
    .story { list-style: none; margin: 0; padding: 0; }
    .story > li { position: relative; margin: 0 0 12px; padding-left: 26px; }
    .story > li::before { content: ""; position: absolute; left: 7px; top: 0; bottom: -12px;
      width: 2px; background: var(--line); }
    .story > li:last-child::before { bottom: 0; }
    .story > li::after { content: ""; position: absolute; left: 2px; top: 17px; width: 12px;
      height: 12px; border: 3px solid var(--soft); border-radius: 50%; background: var(--back); }
    .story > .decision { margin-bottom: 14px; }
    .story > .has-dropped::after { border-color: var(--stop); }
    .story > .has-deferred::after { border-color: var(--wait); }
    .story > .has-approved::after { border-color: var(--go); }
    .story > .change::after { top: 13px; border-color: var(--note); border-radius: 3px; }
    .story .card { margin: 0; padding: 12px 16px; }
    .change p { margin: 0; padding: 8px 14px; border-radius: 10px; background: var(--note-back);
      overflow-wrap: anywhere; }
    .change .icon { color: var(--note); }
    .top { display: flex; flex-wrap: wrap; gap: 2px 14px; align-items: baseline; }
    .top time { font-variant-numeric: tabular-nums; font-weight: 600; }
    .tag { padding: 0 7px; border: 1px solid var(--line); border-radius: 6px; font-size: 13px;
      overflow-wrap: anywhere; }

    .try { margin-top: 10px; padding-top: 10px; border-top: 1px solid var(--line); }
    .try:target { outline: 3px solid var(--act); outline-offset: 4px; border-radius: 4px; }
    .verdict { display: flex; flex-wrap: wrap; gap: 4px 12px; align-items: center; }
    .why { margin: 6px 0 2px; font-size: 16px; }
    .facts { margin: 0; font-size: 14px; color: var(--soft); overflow-wrap: anywhere; }
    .facts b { color: var(--text); font-weight: 600; }

    .track { display: grid; grid-template-columns: repeat(3, 1fr); gap: 8px; margin: 8px 0 4px;
      padding: 0; list-style: none; }
    .track li { display: flex; gap: 9px; align-items: center; min-width: 0; padding: 7px 10px;
      border: 1px dashed var(--line); border-radius: 9px; color: var(--soft); line-height: 1.3;
      overflow-wrap: anywhere; }
    .track small { display: block; font-size: 13px; color: var(--soft); }
    .track .done { border-style: solid; border-color: transparent; color: var(--text); }
    .track .done b { font-weight: 650; }
    .mark { display: inline-grid; place-items: center; flex: none; width: 26px; height: 26px;
      border: 2px dashed currentColor; color: var(--soft); border-radius: 6px; }
    .mark .icon { width: 16px; height: 16px; vertical-align: 0; }
    .mark.eyes { border-radius: 50%; }
    .mark.passed { border: 0; background: none; color: var(--go); }
    .mark.given { border-style: solid; border-color: var(--given); background: var(--given-back);
      color: var(--given); }
    .mark.saw { border-style: solid; border-color: var(--go); background: var(--go);
      color: var(--card); }
    .mark.refused { border-style: solid; border-color: var(--stop); background: var(--stop-back);
      color: var(--stop); }
    .done.is-passed { background: var(--back); }
    .done.is-given { background: var(--given-back); }
    .done.is-saw { background: var(--go-back); }
    .done.is-refused { background: var(--stop-back); }

    .values { display: grid; grid-template-columns: repeat(5, 1fr); gap: 8px; margin: 8px 0 4px; }
    .values div { min-width: 0; padding: 7px 10px; border: 1px solid var(--line); border-radius: 9px;
      font-size: 14px; line-height: 1.35; overflow-wrap: anywhere; }
    .values .hit { border-color: var(--stop); background: var(--stop-back); }
    .values .hold { border-color: var(--wait); background: var(--wait-back); }
    .values dt { color: var(--soft); font-size: 12.5px; }
    .values dd { margin: 0; font-weight: 600; }
    .values dd span { display: block; font-weight: 400; font-size: 13px; color: var(--soft); }
    details > summary { display: inline-block; padding: 4px 0; color: var(--act); cursor: pointer;
      font-size: 14px; }

    .chart { overflow-x: auto; }
    .chart svg { display: block; width: 100%; min-width: 620px; height: auto; }
    .chart text { fill: var(--soft); font-size: 12px; }
    .chart .grid { stroke: var(--line); stroke-width: 1; }
    .c0 { --tone: #1a8f4c; } .c1 { --tone: #d98b00; } .c2 { --tone: #c8372d; }
    .c3 { --tone: #7b5cd6; } .c4 { --tone: #2478cc; } .c5 { --tone: #b0578d; }
    .c6 { --tone: #5d7a1f; } .c7 { --tone: #00867f; } .c8 { --tone: #8a919b; }
    rect.c0, rect.c1, rect.c2, rect.c3, rect.c4, rect.c5, rect.c6, rect.c7, rect.c8 {
      fill: var(--tone); }
    .keys { display: flex; flex-wrap: wrap; gap: 4px 18px; margin: 8px 0; padding: 0;
      list-style: none; font-size: 14px; }
    .keys li::before { content: ""; display: inline-block; width: 12px; height: 12px;
      margin-right: 7px; border-radius: 3px; background: var(--tone); vertical-align: -1px; }
    .ranges { display: flex; gap: 16px; }
    .plain { width: 100%; border-collapse: collapse; font-size: 14px; }
    .plain th, .plain td { padding: 6px 12px 6px 0; border-top: 1px solid var(--line);
      text-align: left; vertical-align: top; overflow-wrap: anywhere; }
    .plain .figure { text-align: right; font-variant-numeric: tabular-nums; }
    .scroll { overflow-x: auto; }

    @media (max-width: 760px) {
      html { scroll-padding-top: 8px; }
      .bar { position: static; }
      .places a { padding: 12px 8px; }
      .chart svg { min-width: 0; }
      .chart text { font-size: 20px; }
      .track { grid-template-columns: 1fr; gap: 6px; }
      .values { grid-template-columns: 1fr 1fr; }
      .now, .now tbody, .now tr, .now td, .now tbody th { display: block; }
      .now thead { display: none; }
      .now tbody th { padding-top: 14px; border-top: 2px solid var(--line); }
      .now td { display: grid; grid-template-columns: 104px 1fr; gap: 2px 10px; padding: 8px 0; }
      .now td::before { content: attr(data-name); color: var(--soft); font-size: 14px; }
      .now td .soft { grid-column: 2; margin: 0; }
      .now td .pill { justify-self: start; }
      .stacked, .stacked tbody, .stacked tr, .stacked td, .stacked th { display: block; border: 0; }
      .stacked thead { display: none; }
      .stacked tr { padding: 10px 0; border-top: 1px solid var(--line); }
      .stacked td, .stacked th { padding: 2px 0; }
    }
    @media (forced-colors: active) {
      .pill, .mark, .track li { border: 1px solid CanvasText; }
      rect.c0, rect.c1, rect.c2, rect.c3, rect.c4, rect.c5, rect.c6, rect.c7, rect.c8 {
        stroke: CanvasText; }
    }
    @media print {
      :root { --back: #fff; --card: #fff; --text: #000; --soft: #444; --line: #bbb; --shade: none; }
      body { font-size: 11pt; }
      .bar, .foot form, .foot nav, .skip, .ranges, .more { display: none; }
      main { max-width: none; padding: 0; }
      .card, .story > li, .try { break-inside: avoid; }
      .pill, .mark, .track li, .values div { -webkit-print-color-adjust: exact;
        print-color-adjust: exact; }
      details::details-content { content-visibility: visible; height: auto; }
      a { color: inherit; text-decoration: none; }
    }
    """
}
