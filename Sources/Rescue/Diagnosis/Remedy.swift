import Files
import ManagedModel
import ManagedStore

/// What helps against a finding, as a command.
package enum Remedy: Sendable, Equatable {
  /// What a remedy comes to for whoever offers it by other means than its command.
  package enum Action: Sendable { case salvage, repair, undelete, other }

  /// Everything that can be read, in a new store.
  case salvage
  /// The same with a model, which has to be given.
  case salvageByModel
  /// The same of the main file alone.
  case salvageMain
  /// What can be put right in the store itself.
  case repair
  /// The same with a model, which has to be given.
  case repairByModel
  /// The same with an entity, which has to be named.
  case repairByEntity
  /// A copy in which a file has the -wal's name.
  case copyWithLog(String)
  /// A copy in which a file has the -journal's name.
  case copyWithJournal(String)
  /// A copy of the main file without what lies beside it.
  case copyAlone
  /// A look at the objects that a predicate takes.
  case rows(entity: String, predicate: String)
  /// A look at these objects.
  case objects([ObjectID], of: String)
  /// A look at what was deleted.
  case undelete
  /// The same with a model, which has to be given.
  case undeleteByModel
  /// The models compared.
  case explain
  /// Nothing that a command does.
  case none

  package var action: Action {
    switch self {
    case .salvage, .salvageByModel, .salvageMain: .salvage
    case .repair, .repairByModel, .repairByEntity: .repair
    case .undelete, .undeleteByModel: .undelete
    case .copyWithLog, .copyWithJournal, .copyAlone, .rows, .objects, .explain, .none: .other
    }
  }

  /// What to run, with the paths quoted for a shell.
  func command(for kind: FindingKind, _ store: StorePlace) -> Advice? {
    let path = Self.word(store.path)
    let given: Advice = store.model.map { " \(.commandModel, of: [$0])" } ?? ""
    let needed: Advice = store.model == nil ? " \(.commandModel, "MODEL")" : given
    let output = Self.word(Self.beside(store.path, "salvaged"))
    let salvage: Advice = "\(.deed("salvage"), of: [path, output])"
    let kept: Advice = kind == .uniqueness ? " \(.keep, of: ["newest"])" : ""
    let repair: Advice = "\(.deed("repair"), of: [path]) \(.fix, of: [kind.rawValue])\(kept)"
    switch self {
    case .salvage: return "\(salvage)\(given)"
    case .salvageByModel: return "\(salvage)\(needed)"
    case .salvageMain: return "\(salvage)\(given) \(.ignoresLog)"
    case .repair: return "\(repair)\(given)"
    case .repairByModel: return "\(repair)\(needed)"
    case .repairByEntity: return "\(repair)\(given) \(.entity, "ENTITY")"
    case .copyWithLog(let name): return "\(Self.copy(store.path, with: name, as: "wal"))"
    case .copyWithJournal(let name): return "\(Self.copy(store.path, with: name, as: "journal"))"
    case .copyAlone: return "cp -p \(path) \(Self.word(Self.beside(store.path, "alone")))"
    case .rows(let entity, let predicate):
      let words = [path, ShellText.quoted(entity), ShellText.quoted(predicate)]
      return "\(.deed("rows"), of: words)\(given)"
    case .objects(let objects, let entity):
      let names = objects.map { "\"\($0)\"" }.joined(separator: ", ")
      return Remedy.rows(entity: entity, predicate: "SELF IN {\(names)}").command(for: kind, store)
    case .undelete: return "\(.deed("undeletion"), of: [path])\(given)"
    case .undeleteByModel: return "\(.deed("undeletion"), of: [path])\(needed)"
    case .explain:
      let model = store.model.map(ShellText.quoted) ?? "MODEL"
      return "\(.deed("explanation"), of: [path, model])"
    case .none: return nil
    }
  }

  private static func copy(_ store: String, with name: String, as suffix: String) -> String {
    let folder = FileSystem.parent(of: store) ?? "."
    let copy = beside(store, "with-" + suffix)
    return
      "cp -p \(word(store)) \(word(copy)) && cp -p \(word(folder + "/" + name)) \(word(copy + "-" + suffix))"
  }

  /// A path that no command takes for an option.
  private static func word(_ path: String) -> String {
    ShellText.quoted(path.hasPrefix("-") ? "./" + path : path)
  }

  /// A name beside the store: `Recipes-salvaged.sqlite`.
  private static func beside(_ path: String, _ what: String) -> String {
    let stem = FileSystem.stem(of: path)
    let ending = FileSystem.name(of: path).dropFirst(stem.count)
    let folder = FileSystem.parent(of: path).map { $0 == "/" ? "/" : $0 + "/" }
    let name = stem + "-" + what + ending
    return path.contains("/") ? (folder ?? "") + name : name
  }
}
