import JSON
import ManagedModel
import Migration
import Terminal

/// `strata plan BUNDLE --matrix`: how each version of a model becomes each other one.
enum MatrixCommand {
  static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    let others: [any Parameter] = [
      Option.to, Option.from, Option.via, Option.allowLoss, Option.allowLossFile,
      RecipeOutput.option,
      CheckReport.option,
    ]
    for name in others.map(\.declaration) where !arguments[name].isEmpty {
      throw CoreDataError(
        .usage, "--matrix shows all versions, so --\(name.name) means nothing here",
        hint: "strata plan BUNDLE --matrix [--mapping FILE]…")
    }
    let documents = try MappingDocuments(paths: arguments[.mapping])
    let versions = try ModelVersions(readingFrom: arguments[.store])
    let matrix = try Interruption.watching {
      try MigrationMatrix(
        of: versions, custom: { try documents.mapping(from: $0, to: $1, names: $2) },
        isCancelled: { Interruption.isRequested })
    }
    arguments[.json] ? console.json { write(matrix, to: &$0) } : print(matrix, to: console)
    return .done
  }

  private static func print(_ matrix: MigrationMatrix, to console: Console) {
    let indices = matrix.names.indices
    var rows = [["from \\ to", ""] + indices.map { String($0 + 1) }]
    for from in indices {
      rows.append(
        [matrix.names[from], String(from + 1)]
          + indices.map { from == $0 ? "·" : sign(of: matrix[from, $0]) })
    }
    let columns = [TextTable.Alignment](repeating: .right, count: indices.count + 1)
    console.table([.left] + columns, rows)
    console.line()
    console.line(
      "= same hashes  i inferred  m mapping model  r recipe  2 that many steps  ✗ no path")
    var gaps: [(reason: String, pairs: [String])] = []
    for from in indices {
      for to in indices {
        let pair = "\(matrix.names[from]) → \(matrix.names[to])"
        switch matrix[from, to] {
        case .chain(let via, let kinds):
          console.line(
            "\(pair): \(kinds.count) steps, via " + via.map { "“\($0)”" }.joined(separator: ", "))
        case .impossible(let end, let next, let error):
          let place = [error.entity, error.property].compactMap { $0 }.joined(separator: ".")
          let reason =
            "✗ from “\(end)” to “\(next)” \(error.message)" + (place.isEmpty ? "" : ": \(place)")
          if let index = gaps.firstIndex(where: { $0.reason == reason }) {
            gaps[index].pairs.append(pair)
          } else {
            gaps.append((reason, [pair]))
          }
        default: continue
        }
      }
    }
    // One gap cuts off all versions behind it.
    for (reason, pairs) in gaps {
      console.line(reason)
      if pairs.count > 1 {
        console.line("  so there is no path for " + pairs.joined(separator: ", "))
      }
    }
    for error in matrix.unreadable { console.note("! \(error.description)") }
  }

  private static func sign(of path: MigrationMatrix.Path?) -> String {
    switch path {
    case .some(.none): "="
    case .direct(let kind): String(kind.rawValue.prefix(1))
    case .chain(_, let kinds): String(kinds.count)
    case .impossible: "✗"
    case nil: ""
    }
  }

  private static func write(_ matrix: MigrationMatrix, to json: inout JSONWriter) {
    json.field("versions", matrix.names)
    json.array("ways") { json in
      for from in matrix.names.indices {
        for to in matrix.names.indices where to != from {
          guard let path = matrix[from, to] else { continue }
          json.object { json in
            json.fields(["from": matrix.names[from], "to": matrix.names[to]])
            write(path, to: &json)
          }
        }
      }
    }
    json.field("unreadable", matrix.unreadable.map(\.description))
  }

  private static func write(_ path: MigrationMatrix.Path, to json: inout JSONWriter) {
    let (kind, via, kinds): (String, [String], [MappingModel.Kind]) =
      switch path {
      case .none: ("none", [], [])
      case .direct(let one): (one.rawValue, [], [one])
      case .chain(let names, let all): ("chain", names, all)
      case .impossible: ("impossible", [], [])
      }
    json.fields(["kind": kind, "via": via, "kinds": kinds.map(\.rawValue)])
    guard case .impossible(let from, let to, let reason) = path else { return json.null("gap") }
    json.object(
      "gap",
      [
        "from": from, "to": to, "message": reason.message, "entity": reason.entity,
        "property": reason.property, "hint": reason.typedHint, "code": reason.code,
      ])
  }
}
