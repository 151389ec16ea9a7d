import JSON
import ManagedModel
import Migration

/// What an error means, as a person or a program reads it.
struct ErrorExplanation {
  let report: ErrorReport
  /// What tables are called in the model at hand; `nil` where none was given.
  let words: TableWords?
  /// The store that was given, which stands in the commands that advice names.
  let store: String?

  /// - Returns: no, where no error was found or none of them is known.
  func tell(asJSON: Bool, _ console: Console) -> CommandStatus {
    if asJSON { console.json(write) } else { print(console) }
    if report.isCut {
      console.note(
        "note: only the first \(NumberText.bytes(ErrorReport.limit)) of the text were read")
    }
    let isKnown = report.entries.contains { $0.explanation != nil }
    return isKnown || (report.entries.isEmpty && !report.hashes.isEmpty) ? .done : .no
  }

  private func print(_ console: Console) {
    if report.entries.isEmpty {
      console.line("No error that strata knows was found in the text.")
    }
    for entry in report.entries { print(entry, console) }
    for reason in report.reasons { console.paragraph("reason: \(reason)", indent: 2) }
    if let entity = report.entity { console.line("entity: \(entity)") }
    if let property = report.property { console.line("property: \(property)") }
    if !report.hashes.isEmpty {
      console.line(
        "The text holds the version hashes of \(report.hashes.count) entities: strata find-model --log FILE PATH… finds the model by them."
      )
    }
  }

  private func print(_ entry: ErrorReport.Entry, _ console: Console) {
    let name = entry.meaning?.name.map { " \($0)" } ?? ""
    let head =
      entry.code.map { "\(entry.domain ?? "unknown domain") \($0)\(name)" }
      ?? entry.sentence?.speaker.rawValue ?? ""
    console.line(head + (entry.count > 1 ? " (appears \(entry.count) times)" : ""), as: .title)
    if let sentence = entry.sentence { console.paragraph("  “\(sentence.words)”", indent: 4) }
    if !entry.names.isEmpty {
      let isSQLite = entry.sentence?.speaker == .sqlite
      let names = isSQLite ? entry.names.map(shown) : entry.names
      console.paragraph("  " + names.joined(separator: ", "), indent: 4)
      if words == nil, isSQLite,
        entry.names.contains(where: { TableWords.bookkeeping($0) == nil })
      {
        console.line("  (strata explain STORE --error … shows its name in the model)")
      }
    }
    guard let explanation = entry.explanation else {
      console.line("  strata does not know this code.")
      return
    }
    console.paragraph("  " + explanation.meaning, indent: 4)
    console.paragraph("  Usual cause: " + explanation.cause, indent: 4)
    console.paragraph("  What to do: " + filled(explanation.advice.typed), indent: 4)
  }

  /// Advice with the store that was given in its commands.
  private func filled(_ advice: String) -> String {
    store.map { advice.replacing(" STORE", with: " " + ShellText.quoted($0)) } ?? advice
  }

  /// A name with what the model calls it.
  private func shown(_ name: String) -> String {
    if let own = TableWords.bookkeeping(name) { return "\(name) (\(own))" }
    guard let words else { return name }
    let names = words.names(for: name).prefix(5).joined(separator: ", ")
    return names.isEmpty ? "\(name) (nothing of this model)" : "\(name) is \(names)"
  }

  private func write(_ json: inout JSONWriter) {
    json.objects("errors", report.entries) { json, entry in
      json.fields([
        "code": entry.code, "domain": entry.domain, "name": entry.meaning?.name,
        "sentence": entry.sentence?.words, "speaker": entry.sentence?.speaker.rawValue,
        "meaning": entry.explanation?.meaning, "cause": entry.explanation?.cause,
        "advice": (entry.explanation?.advice.typed).map(filled), "count": entry.count,
      ])
      json.objects("names", entry.names) { name in
        [
          "text": name,
          "model": entry.sentence?.speaker == .sqlite ? words?.names(for: name) ?? [] : [name],
        ]
      }
    }
    json.fields([
      "reasons": report.reasons, "entity": report.entity, "property": report.property,
      "cut": report.isCut,
    ])
    json.object("hashes") { json in
      for (name, pattern) in report.hashes.sorted(by: { $0.key < $1.key }) {
        json.field(name, pattern.text)
      }
    }
  }
}
