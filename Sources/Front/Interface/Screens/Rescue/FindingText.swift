import ManagedModel
import ManagedStore
import Reports
import Rescue
import Terminal

/// All that is known of a finding: what it is, what follows, what helps.
struct FindingText {
  private let finding: Finding
  /// Whether the keys that do what is advised are named.
  private let hints: Bool
  /// Whether it is of a private copy of a store, into which nothing is written.
  private let isOfCopy: Bool
  /// What Enter does about it; `nil` where nothing.
  private let going: String?
  /// Whether anything shows that objects were deleted.
  private let hasDeletions: Bool
  /// What was found of deleted objects; `nil` if not looked for yet.
  private let remains: Remains?

  init(
    _ finding: Finding, hints: Bool = true, isOfCopy: Bool = false, going: String? = nil,
    hasDeletions: Bool = false, remains: Remains? = nil
  ) {
    (self.finding, self.hints, self.going) = (finding, hints, going)
    self.isOfCopy = isOfCopy
    (self.hasDeletions, self.remains) = (hasDeletions, remains)
  }

  /// Whether a repair would take something from deleted objects that can be restored, or were not looked for.
  private var comesAfterUndelete: Bool {
    hasDeletions && finding.isRepaired && finding.kind.takesFromDeletedObjects
      && remains?.isEmpty != true
  }

  /// With the key beside an option that asks for it here.
  private var advice: String {
    finding.advice.text { choice, values in
      Advice.typed(choice, values) + (hints && choice == .model ? " (s asks for it)" : "")
    }
  }

  func lines(width: Int) -> [TextLine] {
    var lines: [TextLine] = []
    func add(_ text: String, _ role: Theme.Role) {
      lines += Wrapping.lines(text, width: width).map { ($0, role) }
    }
    for (index, line) in finding.found.enumerated() {
      add(line.words(), index == 0 ? .text : Theme.Role(line))
    }
    if finding.kind == .deletions, let remains {
      add("Found: \(remains.summary).", .text)
      for missed in remains.missed { add(missed.sentence, .warning) }
    }
    lines.append(("", .text))
    for line in finding.reported { add(line.words(), .text) }
    if !finding.reported.isEmpty { lines.append(("", .text)) }
    add("what helps", .columnTitle)
    // What brings everything back is reported before the key that gives it up.
    let isLastResort = finding.kind == .externalMissing
    if isLastResort { add(advice, .text) }
    if hints {
      if let going { add("→ ⏎: \(going)", .success) }
      if isLastResort {
        add("→ P: check again, once the folder is there", .success)
        if !isOfCopy { add("→ f: without it, set the values to NULL, with a backup", .success) }
      } else if finding.action == .salvage {
        add("→ s: salvage it into a new store", .success)
      } else if finding.action == .undelete {
        if remains?.isEmpty == false {
          add("→ u: restore them into a new store; D: look at them", .success)
        } else {
          add("→ u: look for what is left of them", .success)
        }
      } else if comesAfterUndelete {
        add(
          remains == nil
            ? "→ u: first, look for deleted objects: these may be references to them"
            : "→ u: first, restore the deleted objects: these may be references to them", .success)
        if !isOfCopy { add("→ f: then, repair it in the store, with a backup", .success) }
      } else if finding.isRepaired, !isOfCopy {
        add("→ f: repair it in the store, with a backup", .success)
      } else if finding.command != nil {
        add("→ y: copy the command", .success)
      }
    }
    if !isLastResort { add(advice, .text) }
    if let command = finding.command {
      lines += Wrapping.code(command.typed, width: width).map { ($0, .code) }
    }
    // Behind what helps, which would be out of sight on a small screen.
    if finding.reported.isEmpty {
      lines.append(("", .text))
      add("Core Data reports no error.", .dim)
    }
    return lines
  }
}

extension Finding {
  /// The sign of its severity, and how it looks.
  var mark: (sign: String, role: Theme.Role) {
    let mark = Report.Mark(severity)
    return (mark.rawValue, Theme.Role(Report.Line(mark, "")))
  }
}

/// What can be had of each entity, in columns.
struct HoldingTable {
  private let holdings: [EntityHolding]
  /// Whether saves may be missing, of any entity, with the -wal that was not read.
  private let lacksSaves: Bool
  /// Objects that findings are about, by entity: at most so many, since one may have two faults.
  private let faults: [String: (count: Int, isSum: Bool)]

  init(_ holdings: [EntityHolding], _ condition: StoreCondition?) {
    self.holdings = holdings
    lacksSaves =
      condition?.findings.contains { $0.severity == .error && $0.kind.losesFrames } == true
    var faults: [String: (count: Int, isSum: Bool)] = [:]
    for finding in condition?.findings ?? [] where finding.severity != .note {
      guard let entity = finding.entity, let count = finding.count, finding.isOfObjects else {
        continue
      }
      let former = faults[entity]
      faults[entity] = ((former?.count ?? 0) + count, former != nil)
    }
    self.faults = faults
  }

  private var showsDeleted: Bool {
    holdings.contains { $0.deleted != nil || $0.older != nil }
  }

  /// The titles of the columns of numbers.
  var titles: [String] {
    ["live", "damaged", "lost (at most)"]
      + (showsDeleted
        ? ["deleted", "older"] : holdings.contains { $0.unused != nil } ? ["deleted"] : [])
  }

  /// Cells of each of these columns.
  var widths: [Int] {
    let rows = holdings.map(numbers)
    return titles.enumerated().map { index, title in
      max(Self.width(title), (rows.compactMap { $0.element(index)?.count }.max() ?? 0) + 2)
    }
  }

  /// The numbers of an entity, as text.
  func numbers(of holding: EntityHolding) -> [String] {
    let faults = faults[holding.entity]
    let damaged = holding.damaged + (faults?.count ?? 0)
    let isSum = faults.map { $0.isSum || holding.damaged > 0 } ?? false
    let lost =
      switch holding.lost {
      case nil: lacksSaves ? "unknown" : "0"
      case .atMost(let count)?: NumberText.grouped(count)
      case .unknown?: "unknown"
      }
    func text(_ number: Int?) -> String { number.map(NumberText.grouped) ?? "—" }
    var numbers = [
      NumberText.grouped(holding.live), (isSum ? "≤ " : "") + NumberText.grouped(damaged), lost,
    ]
    if showsDeleted {
      numbers += [text(holding.deleted) + (ofAll(holding) ?? ""), text(holding.older)]
    } else if titles.count > numbers.count {
      numbers.append(holding.unused.map { "≤ " + NumberText.grouped($0) } ?? "—")
    }
    return numbers
  }

  /// Of how many deleted objects those are that were found, where not all were: ` of 8`.
  private func ofAll(_ holding: EntityHolding) -> String? {
    // The keys of subentities are counted with the entity at the top.
    guard let missed = holding.missed, missed.keyless == 0, missed.found == holding.deleted else {
      return nil
    }
    return " of " + NumberText.grouped(missed.keys)
  }

  /// Whether an entity's row is one to look at.
  func isConcerned(_ holding: EntityHolding) -> Bool {
    holding.lost != nil || holding.damaged > 0 || faults[holding.entity] != nil
  }

  /// The table for the clipboard, a tab between columns.
  var text: String {
    ([["entity"] + titles] + holdings.map { [$0.entity.printable] + numbers(of: $0) })
      .map { $0.joined(separator: "\t") }.joined(separator: "\n")
  }

  /// Columns of cells that each number takes.
  static let width = 11

  /// Cells of the column with that title.
  static func width(_ title: String) -> Int { max(width, title.count + 2) }
}

extension Finding {
  /// Whether what it counts are objects that are there.
  fileprivate var isOfObjects: Bool {
    predicate != nil || first.contains { ObjectID($0) != nil }
  }
}
