import ManagedModel
import Migration

// The code of the article “CustomMigrations”, which a test compares with it.

/// Splits `fullName` at the first space, and leaves out what moved no money.
final class SplitName: EntityMigrationPolicy {
  override func createDestinationInstances(
    for source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    guard case .decimal(let amount) = try source.value("amount"), amount != "0" else { return }
    let transaction = try manager.makeInstance(of: source, in: mapping)
    let names = try (source.text("fullName") ?? "").split(separator: " ", maxSplits: 1)
    try transaction.set(.string(names.first.map(String.init) ?? ""), for: "firstName")
    try transaction.set(.string(names.count > 1 ? String(names[1]) : ""), for: "lastName")
  }
}

/// Makes nothing of any object.
final class DeleteObjects: EntityMigrationPolicy {
  override func createDestinationInstances(
    for source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {}
}

/// Turns an archived array of questions into objects.
final class QuestionsToTemplate: EntityMigrationPolicy {
  override func createDestinationInstances(
    for source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    guard manager.mappingModel.userInfo["modelVersion"] == .integer(2) else {
      return try super.createDestinationInstances(for: source, in: mapping, manager: manager)
    }
    let template = try manager.makeInstance(of: source, in: mapping)
    try template.set(.string("Main category"), for: "name")
    try template.set(.integer(0), for: "orderInList")
    for (index, name) in (try source.elements("questions") ?? []).enumerated() {
      let question = try manager.insert("TemplateQuestion")
      try question.set(name, for: "name")
      try question.set(.integer(Int64(index) * 1000), for: "orderInList")
      try question.set(.integer(0), for: "type")
      try template.add([question], to: "questions")
    }
  }
}

/// Turns a text such as `2017-12-30` into a date, and two arrays of equal length into answers.
final class RecordsToDayRecord: EntityMigrationPolicy {
  override func createDestinationInstances(
    for source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    let day = try manager.makeInstance(of: source, in: mapping)
    if let date = try source.date("date", pattern: "yyyy-MM-dd") {
      try day.set(.date(date), for: "date")
    }
    let section = try manager.insert("SectionRecord")
    let order = "1000000000"
    try section.set(.string("Main category"), for: "name")
    try section.set(.integer(Int64(order) ?? 0), for: "orderInList")
    let digits = try (source.text("date") ?? "").filter { $0 != "-" }
    try section.set(.string(digits + order), for: "sortField")
    try section.set(day, for: "day")
    let questions = try source.elements("questions") ?? []
    let answers = try source.elements("answers") ?? []
    for (index, (name, answer)) in zip(questions, answers).enumerated() {
      let question = try manager.insert("Question")
      try question.set(name, for: "name")
      try question.set(.integer(Int64(index) * 1000), for: "orderInList")
      try question.set(.integer(0), for: "type")
      try question.set(answer, for: "answerText")
      try question.set(section, for: "section")
    }
  }
}
