import ManagedModel
import Terminal

extension ChangesLayer {
  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ body: Rect) {
    let inside = Popup("What changed", size: body.size).draw(in: &grid, body, theme: theme)
    guard inside.height > 2 else { return }
    let tabs = tabs(context).map { other in
      other == tab
        ? Span("▸\(other.title)  ", theme[.headerActive]) : Span(" \(other.title)  ", theme[.dim])
    }
    grid.write(
      tabs + [Span(summary(context), theme[error == nil ? .dim : .error])],
      at: inside.row(0).origin, within: inside.width)
    let rest = inside.droppingRows(2)
    if let prompt {
      prompt.draw(in: &grid, rest, label: "file › ", hint: "", theme: theme)
      return
    }
    let lines = lines(context)
    list.draw(lines, in: &grid, rest, theme: theme) { line, isSelected in
      line.spans(isSelected, context, theme)
    }
  }

  private func summary(_ context: Context) -> String {
    let news = context.news
    switch tab {
    case .saves:
      guard !news.saves.isEmpty else {
        switch news.watch {
        case .awaited: return "the store is being copied, to compare saves with it"
        case .postponed(let reason):
          return "what the first save changes is not known, only of those after it: \(reason)"
        case .failed(let reason): return "✗ saves are counted, not listed: \(reason)"
        case .begun:
          return news.unlistedWords.isEmpty
            ? "no other program saved since \(news.opened)"
            : "since \(news.opened)" + news.unlistedWords
        }
      }
      if since != nil { return "the values of that moment → those of now" }
      return "since \(news.opened), the newest last"
        + (news.forgotten > 0
          ? "; \(NumberText.counted(news.forgotten, "older save")) not kept" : "")
        + news.unlistedWords
    case .prepared:
      return context.prepared.isEmpty
        ? "E on a value changes it, X on a row marks it for deletion: nothing is written before W"
        : "\(context.prepared.words), not written yet: old → new"
    case .against:
      if let error { return "✗ \(error.description)" }
      if task != nil {
        return comparing.map { "\(context.known.named($0)): \(doing) …  ^C stops" }
          ?? "looking for backups …"
      }
      return differences.map {
        let (other, own) = (context.known.named($0.path), "the store as it is")
        return isSwapped ? "OLD: \(own)  NEW: \(other)" : "OLD: \(other)  NEW: \(own)"
      } ?? "compare the store with an earlier or another one"
    }
  }
}
