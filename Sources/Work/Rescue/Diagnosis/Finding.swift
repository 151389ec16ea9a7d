import Files
import ManagedModel
import ManagedStore
import Migration

/// Something about a store that is not as it should be.
public struct Finding: Sendable, Equatable {
  /// How grave a finding is; the gravest comes first.
  public enum Severity: String, Sendable, Comparable, CaseIterable {
    /// Objects are lost or cannot be read, or Core Data will fail.
    case error
    /// Something that should not be, and that an app may trip over.
    case warning
    /// Something to know: healthy stores have it, too.
    case note

    /// Whether one is graver than the other.
    public static func < (first: Severity, second: Severity) -> Bool {
      (allCases.firstIndex(of: first) ?? 0) < (allCases.firstIndex(of: second) ?? 0)
    }
  }

  /// What Core Data, or SQLite beneath it, says of a store with such a fault.
  public struct Consequence: Sendable, Equatable {
    /// The error that an app meets.
    public var meaning: ErrorMeaning

    /// The domain and the code, as a log shows them.
    public var text: String {
      "\(meaning.domain.rawValue) \(meaning.code), “\(meaning.meaning)”"
    }
  }

  /// What is wrong.
  public var kind: FindingKind
  /// How grave it is here.
  public var severity: Severity
  /// The entity that is concerned, or its table where no entity is known.
  public var entity: String?
  /// The property that is concerned.
  public var property: String?
  /// How many objects, pages, frames or files; `nil` where that is not known.
  public var count: Int?
  /// The first of them: objects, ranges of keys, or names of files.
  public var first: [String]
  /// Takes exactly the objects in question, in the words of filters; `nil` where none is known to.
  public var predicate: String?
  /// Of how many keys of each hierarchy it is, by the entity at its top; empty where it is not about keys.
  package var keys: [String: Int] = [:]
  /// What was found, in a sentence.
  public var sentence: String
  /// What to do, in a sentence.
  public var advice: Advice
  /// What does it, with all that is to be given; `nil` where nothing can.
  public var command: Advice?

  /// What Core Data will say of it; `nil` where it says nothing.
  public var consequence: Consequence?
  /// What helps, whatever is put off for another finding.
  let remedy: Remedy
  /// What the command is of: another finding's where this one is put off.
  private var offered: Remedy
  /// What the command does; `nil` if there is no command.
  package var action: Remedy.Action? { command == nil ? nil : offered.action }

  /// A finding whose advice and command are those of its kind, unless they are given.
  init(
    _ kind: FindingKind, _ sentence: String, severity: Severity? = nil,
    code: CoreDataError.Code? = nil, error: (domain: ErrorMeaning.Domain, code: Int)? = nil,
    entity: String? = nil,
    property: String? = nil, count: Int? = nil, first: [String] = [], in store: StorePlace,
    remedy: Remedy? = nil, advice: Advice? = nil, hasConsequence: Bool = true
  ) {
    let remedy = remedy ?? kind.remedy
    self.remedy = remedy
    offered = remedy
    self.kind = kind
    self.severity = severity ?? kind.severity
    self.entity = entity
    self.property = property
    self.count = count
    self.first = first
    self.sentence = sentence
    let own = code.map { (domain: ErrorMeaning.Domain.cocoa, code: $0.rawValue) } ?? error
    let error = hasConsequence ? own ?? kind.error : nil
    consequence = error.flatMap {
      ErrorCatalogue.meaning(of: $0.code, domain: $0.domain.rawValue)
    }.map { Consequence(meaning: $0) }
    self.advice = (advice ?? kind.advice).about(Remedy.word(store.path))
    command = remedy.command(for: kind, store)
    if case .rows(_, let predicate) = remedy { self.predicate = predicate }
  }
}

extension Finding {
  /// Whether it is that the main file holds half of a save, or may.
  var isOfHalfSave: Bool { kind == .journalHot || severity == .error && kind.losesJournal }

  /// Asks for a model with the salvage that it offers.
  mutating func askForModel(_ store: StorePlace) {
    guard remedy == .salvage, store.model == nil else { return }
    offered = .salvageByModel
    command = offered.command(for: kind, store)
  }

  /// Whether a repair does it that decides nothing for the user.
  fileprivate var isPlainRepair: Bool { offered == .repair && kind.repair == .certain }

  fileprivate mutating func offer(for store: StorePlace) {
    command = offered.command(for: kind, store)
  }

  /// Offers what helps against rows that are lost, where nothing else does: what leads nowhere may reference
  /// them.
  mutating func putOff(for cause: Finding) {
    let mayComeOfIt =
      kind.mayComeOfLostRows || cause.kind.losesJournal && kind.isOfFile
      || cause.kind == .walOlder && kind.isOfPages
    guard kind != cause.kind, mayComeOfIt else { return }
    advice =
      if cause.kind.losesPages {
        "Unreadable pages may be the cause: salvage the store first."
      } else {
        "The \(cause.kind.losesJournal ? "-journal" : "-wal") may be the cause: deal with that first."
      }
    command = cause.command
    offered = cause.offered
  }
}

extension [Finding] {
  /// Offers commands for a store at another place than the one that was looked at: in an archive or a backup, of
  /// which each repair makes a new store, or a file that was read as a private copy.
  mutating func offer(for store: StorePlace) {
    var store = store
    for kind in map(\.kind) where store.isContained && !store.repairs.contains(kind) {
      if contains(where: { $0.kind == kind && $0.isPlainRepair }) { store.repairs.append(kind) }
    }
    for index in indices { self[index].offer(for: store) }
  }

  /// Names a store in what is advised, where a private copy of it was looked at.
  ///
  /// - Parameters:
  ///   - copy: the copy's path.
  ///   - store: the path that a person can type.
  ///   - isContained: whether the store is in an archive or a backup.
  ///   - isAtomic: whether it is an XML or binary store.
  ///   - model: the model as it was given on the command line.
  package mutating func name(
    _ copy: String, as store: String, isContained: Bool, isAtomic: Bool, model: String?
  ) {
    for index in indices {
      self[index].advice = self[index].advice
        .replacing(Remedy.word(copy), with: Remedy.word(store))
    }
    offer(
      for: StorePlace(path: store, model: model, isContained: isContained, isAtomic: isAtomic))
  }
}

/// The store that commands are about.
struct StorePlace: Sendable, Equatable {
  /// Its path as it was given.
  let path: String
  /// The model as it was given on the command line.
  var model: String?
  /// Whether it is in an archive or a backup, which is never changed: what is made of it goes into the current folder.
  var isContained = false
  /// Whether it is an XML or binary store: nothing is repaired in it, and what is salvaged of it is of the SQLite type.
  var isAtomic = false
  /// The kinds of faults that every repair of it mends, since each makes a new store: those without a choice.
  var repairs: [FindingKind] = []
}

extension Finding {
  /// What an interrupted run left beside a store, a finding for each sentence.
  package static func interrupted(_ sentences: [String], of path: String) -> [Finding] {
    sentences.map { Finding(.interrupted, $0, in: StorePlace(path: path)) }
  }
}

/// What helps against a finding, as a command.
package enum Remedy: Sendable, Equatable {
  /// What a remedy does, for a front end that offers it by other means than its command.
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
    let output = Self.word(Self.beside(store, "salvaged"))
    let salvage: Advice = "\(.deed("salvage"), of: [path, output])"
    let isOfAll = store.repairs.contains(kind)
    let kinds = isOfAll ? store.repairs : store.repairs + [kind]
    let fixes = kinds.reduce("" as Advice) { "\($0) \(.fix, of: [$1.rawValue])" }
    let kept: Advice = kinds.contains(.uniqueness) ? " \(.keep, of: ["newest"])" : ""
    // Two repairs that differ are two stores.
    let result = Self.beside(store, isOfAll ? "repaired" : "repaired-\(kind.rawValue)")
    let repaired: Advice = store.isContained ? " \(.output, of: [result])" : ""
    let repair: Advice = "\(.deed("repair"), of: [path])\(fixes)\(kept)\(repaired)"
    switch self {
    case .repair where store.isAtomic, .repairByModel where store.isAtomic,
      .repairByEntity where store.isAtomic, .undelete where store.isAtomic,
      .undeleteByModel where store.isAtomic:
      return nil
    case .salvage: return "\(salvage)\(given)"
    case .salvageByModel: return "\(salvage)\(needed)"
    case .salvageMain: return "\(salvage)\(given) \(.ignoresLog)"
    case .repair: return "\(repair)\(given)"
    case .repairByModel: return "\(repair)\(needed)"
    case .repairByEntity: return "\(repair)\(given) \(.entity, "ENTITY")"
    // No cp reaches into an archive.
    case .copyWithLog where store.isContained, .copyWithJournal where store.isContained,
      .copyAlone where store.isContained:
      return nil
    case .copyWithLog(let name): return "\(Self.copy(store, with: name, as: "wal"))"
    case .copyWithJournal(let name): return "\(Self.copy(store, with: name, as: "journal"))"
    case .copyAlone: return "cp -p \(path) \(Self.word(Self.beside(store, "alone")))"
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

  private static func copy(_ store: StorePlace, with name: String, as suffix: String) -> String {
    let folder = FileSystem.parent(of: store.path) ?? "."
    let copy = beside(store, "with-" + suffix)
    return
      "cp -p \(word(store.path)) \(word(copy)) && cp -p \(word(folder + "/" + name)) \(word(copy + "-" + suffix))"
  }

  /// A path that no command takes for an option.
  fileprivate static func word(_ path: String) -> String {
    ShellText.quoted(path.hasPrefix("-") ? "./" + path : path)
  }

  /// A name beside the store: `Recipes-salvaged.sqlite`.
  private static func beside(_ store: StorePlace, _ what: String) -> String {
    let path = store.path
    let stem = FileSystem.stem(of: path)
    let ending = store.isAtomic ? ".sqlite" : FileSystem.name(of: path).dropFirst(stem.count)
    let folder = FileSystem.parent(of: path).map { $0 == "/" ? "/" : $0 + "/" }
    let name = stem + "-" + what + ending
    return path.contains("/") && !store.isContained ? (folder ?? "") + name : name
  }
}
