import Comparison
import ManagedModel
import ManagedStore
import Terminal
import Watching

/// A file to compare the store with.
struct ComparedFile: Sendable, Equatable {
  var path: String
  var about: String
}

/// A line of ``ChangesLayer``.
enum ChangeLine {
  case heading(String)
  case change(ObjectChange)
  case note(String)
  /// A change that is prepared.
  case prepared(PreparedEdits.Entry)
  case other(ComparedFile)
  /// Another file, whose path is typed.
  case typed

  /// What one save changed, or what several did that were seen together.
  static func lines(of seen: SeenSave) -> [ChangeLine] {
    let save = seen.save
    let saves = save.saves == 1 ? "" : ObservedSave.text(of: save.saves)
    let parts = [seen.time, saves, words(save.counts), save.author ?? "", save.process ?? ""]
    return [.heading(parts.filter { !$0.isEmpty }.joined(separator: "  "))]
      + save.changes.map { .change($0) } + more(save.rest)
  }

  /// What is prepared, each deletion with what goes along.
  static func lines(of prepared: PreparedEdits) -> [ChangeLine] {
    prepared.entries.flatMap { entry -> [ChangeLine] in
      guard case .deletion(let deletion) = entry, !deletion.along.isEmpty else {
        return [.prepared(entry)]
      }
      let shown = deletion.along.prefix(mostAlong).map(\.description).joined(separator: ", ")
      let more = deletion.along.count - mostAlong
      return [
        .prepared(entry),
        .note(
          "with it: \(shown)" + (more > 0 ? " and \(NumberText.grouped(more)) more" : "")),
      ]
    }
  }

  /// Objects that are named of those that go along.
  private static let mostAlong = 8

  /// What a save and all after it changed together.
  static func sum(since first: Int, _ news: StoreNews) -> [ChangeLine] {
    let saves = news.saves(since: first)
    let changes = news.changes(since: first)
    let heading = [
      "since " + (saves.first?.time ?? ""), count(saves),
      changes.isEmpty ? "together they changed nothing" : words(changes),
    ]
    let rest = saves.reduce(0) { $0 + $1.save.rest }
    return [.heading(heading.joined(separator: "  "))] + changes.map { .change($0) }
      + (rest > 0
        ? [.note("… and \(NumberText.counted(rest, "change")) of objects that were not kept")] : [])
  }

  /// What is different in another file, by entity.
  static func lines(of differences: StoreDifferences) -> [ChangeLine] {
    var lines: [ChangeLine] = []
    for count in differences.counts where count.count > 0 {
      lines.append(.heading("\(count.entity)  \(words([count]))"))
      let changes = differences.changes.filter { $0.entity == count.entity }
      lines += changes.map { .change($0) } + more(count.count - changes.count)
    }
    return lines
      + (lines.isEmpty ? [.note("all objects are equal")] : [])
      + differences.notes.map { .note($0) }
  }

  /// `3 saves`
  private static func count(_ saves: [SeenSave]) -> String {
    let count = saves.reduce(Int?.some(0)) { count, seen in
      count.flatMap { count in seen.save.saves.map { count + $0 } }
    }
    return ObservedSave.text(of: count)
  }

  /// `2 inserted, 1 changed`
  private static func words(_ changes: [ObjectChange]) -> String {
    var count = ComparisonSummary.EntityCount(entity: "")
    for change in changes {
      switch change.kind {
      case .insert: count.inserted += 1
      case .update: count.updated += 1
      case .delete: count.deleted += 1
      }
    }
    return words([count])
  }

  private static func words(_ counts: [ComparisonSummary.EntityCount]) -> String {
    let sums = counts.reduce(into: [0, 0, 0]) { sums, count in
      for (index, number) in [count.inserted, count.updated, count.deleted].enumerated() {
        sums[index] += number
      }
    }
    return zip(sums, ["inserted", "changed", "deleted"]).filter { $0.0 > 0 }
      .map { "\(NumberText.grouped($0.0)) \($0.1)" }.joined(separator: ", ")
  }

  private static func more(_ count: Int) -> [ChangeLine] {
    count > 0 ? [.note("… and \(NumberText.grouped(count)) more")] : []
  }

  /// The line as it is drawn.
  func spans(_ isSelected: Bool, _ context: Context, _ theme: Theme) -> [Span] {
    switch self {
    case .heading(let text): [theme.span(isSelected, "── \(text)", .dim)]
    case .note(let text): [theme.span(isSelected, "   \(text)", .dim)]
    case .other(let other):
      [
        theme.span(isSelected, context.known.named(other.path), .text),
        theme.span(isSelected, "  " + other.about, .dim),
      ]
    case .typed: [theme.span(isSelected, "another file…", .text)]
    case .prepared(let entry):
      Self.spans(entry, isSelected, context, theme)
    case .change(let change):
      [
        theme.span(isSelected, "\(change.sign) ", change.role),
        theme.span(isSelected, change.title + "  ", .entity),
        theme.span(isSelected, change.summary(context.store), .text),
      ]
    }
  }
}

extension ChangeLine {
  private static func spans(
    _ entry: PreparedEdits.Entry, _ isSelected: Bool, _ context: Context, _ theme: Theme
  ) -> [Span] {
    let prepared = context.prepared
    let change = prepared.change(of: entry)
    let isDeletion = change.kind == .delete
    var words = isDeletion ? "to be deleted" : change.summary(context.store)
    if case .value(let value) = entry, case .toOne(let old) = value.old {
      words =
        "\(value.column.name): \(old?.description ?? "∅") \(value.arrow)\(prepared.text(of: value).text)"
    }
    return [
      theme.span(isSelected, isDeletion ? "D " : "* ", change.role),
      theme.span(isSelected, change.title + "  ", .entity), theme.span(isSelected, words, .text),
    ]
  }
}

extension ObjectChange {
  /// Which object it is about.
  var title: String {
    let id = (b ?? a).map { "\($0)" } ?? ""
    return label.isEmpty ? id : "\(id)  \(label)"
  }
}

extension [ChangeLine] {
  /// The place of the first object; 0 if none exists.
  var firstChange: Int { firstIndex { if case .change = $0 { true } else { false } } ?? 0 }
}
