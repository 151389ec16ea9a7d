import Files
import ManagedModel
import ManagedStore
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

@Suite("Classics: the diary")
struct DiaryClassicTests {
  static func models() throws -> (Model, Model) {
    (
      try Classics.model(
        "1",
        """
        Questions
          questions Binary
        Records
          answers Binary
          date String
          questions Binary
        """),
      try Classics.model(
        "2",
        """
        Template
          name String
          orderInList Integer 32 = 0
          questions ->> TemplateQuestion.template
        TemplateQuestion
          name String
          orderInList Integer 32 = 0
          type Integer 16 = 0
          template -> Template.questions
        DayRecord
          date Date
          sectionRecords ->> SectionRecord.day
        SectionRecord
          name String
          orderInList Integer 32 = 0
          sortField String
          day -> DayRecord.sectionRecords
          questions ->> Question.section
        Question
          answerText String
          name String
          orderInList Integer 32 = 0
          type Integer 16 = 0
          section -> SectionRecord.questions
        """)
    )
  }

  static let recipe = """
    { name: 'QuestionsToTemplate', source: 'Questions', destination: 'Template',
      attributes: { name: "'Main category'", orderInList: '0' },
      create: [ { destination: 'TemplateQuestion', relationship: 'questions', each: 'unarchive(questions)',
                  attributes: { name: 'item', orderInList: 'position * 1000', type: '0' } } ] },
    { name: 'RecordsToDayRecord', source: 'Records', destination: 'DayRecord',
      attributes: { date: "parse_date(date, 'yyyy-MM-dd')" },
      create: [ { destination: 'SectionRecord', relationship: 'sectionRecords',
        attributes: { name: "'Main category'", orderInList: '1000000000',
                      sortField: "format_date(parse_date(date, 'yyyy-MM-dd'), 'yyyyMMdd') || '1000000000'" },
        create: [ { destination: 'Question', relationship: 'questions', each: 'unarchive(questions)',
                    attributes: { name: 'item', orderInList: 'position * 1000', type: '0',
                                  answerText: 'text_or_null(element(unarchive(answers), position))' } } ] } ] }
    """

  static let policies = """
    { name: 'QuestionsToTemplate', source: 'Questions', destination: 'Template', policy: 'Diary.QuestionsToTemplate',
      relationships: { questions: null } },
    { name: 'RecordsToDayRecord', source: 'Records', destination: 'DayRecord', policy: 'Diary.RecordsToDayRecord',
      attributes: { date: null } }
    """

  static func store(_ model: Model, in folder: TemporaryFolder) throws -> String {
    try Classics.store(model, in: folder) { writer in
      let questions = ["How was the day?", "What \"else\"?", "Why?"]
      try writer.insert(
        "Questions", attributes: ["questions": .bytes(Diary.archive(questions))])
      for (date, answers) in [
        ("2017-12-30", ["Fine", nil, "So"]), ("2018-01-01", [nil, nil, "Because\nof it"]),
      ] {
        try writer.insert(
          "Records",
          attributes: [
            "date": .string(date), "questions": .bytes(Diary.archive(questions)),
            "answers": .bytes(Diary.archive(answers)),
          ])
      }
    }
  }

  static let result = [
    "Template/p1 name=Main category orderInList=0 questions→[TemplateQuestion/p1 TemplateQuestion/p2 TemplateQuestion/p3]",
    "TemplateQuestion/p1 name=How was the day? orderInList=0 type=0 template→Template/p1",
    "TemplateQuestion/p2 name=What \"else\"? orderInList=1000 type=0 template→Template/p1",
    "TemplateQuestion/p3 name=Why? orderInList=2000 type=0 template→Template/p1",
    "DayRecord/p1 date=536284800.0 sectionRecords→[SectionRecord/p1]",
    "DayRecord/p2 date=536457600.0 sectionRecords→[SectionRecord/p2]",
    "SectionRecord/p1 name=Main category orderInList=1000000000 sortField=201712301000000000 day→DayRecord/p1 questions→[Question/p1 Question/p2 Question/p3]",
    "SectionRecord/p2 name=Main category orderInList=1000000000 sortField=201801011000000000 day→DayRecord/p2 questions→[Question/p4 Question/p5 Question/p6]",
    "Question/p1 answerText=Fine name=How was the day? orderInList=0 type=0 section→SectionRecord/p1",
    "Question/p2 answerText=∅ name=What \"else\"? orderInList=1000 type=0 section→SectionRecord/p1",
    "Question/p3 answerText=So name=Why? orderInList=2000 type=0 section→SectionRecord/p1",
    "Question/p4 answerText=∅ name=How was the day? orderInList=0 type=0 section→SectionRecord/p2",
    "Question/p5 answerText=∅ name=What \"else\"? orderInList=1000 type=0 section→SectionRecord/p2",
    "Question/p6 answerText=Because\nof it name=Why? orderInList=2000 type=0 section→SectionRecord/p2",
  ]

  @Test("by the recipe of the design")
  func recipe() throws {
    let folder = try TemporaryFolder()
    let (old, new) = try Self.models()
    let path = try Self.store(old, in: folder)
    let plan = try Classics.plan(path, to: new, Self.recipe)
    #expect(plan.losses == [] && plan.failures == [])
    _ = try StoreMigration.runAndRead(plan)
    #expect(try StoreDump.lines(at: path).sorted() == Self.result.sorted())
  }

  @Test("by Swift policies, steered by the mapping's user info, to the same objects")
  func policies() throws {
    let folder = try TemporaryFolder()
    let (old, new) = try Self.models()
    let bindings: [String: EntityMigrationPolicy.Type] = [
      "Diary.QuestionsToTemplate": QuestionsToTemplate.self,
      "Diary.RecordsToDayRecord": RecordsToDayRecord.self,
    ]
    let lines = try Classics.migrate(
      Self.store(old, in: folder), to: new, Self.policies, userInfo: "{ modelVersion: 2 }",
      policies: bindings)
    #expect(lines.sorted() == Self.result.sorted())
    // Another version of the mapping: the policy does as the mapping says.
    let other = try TemporaryFolder()
    let plain = try Classics.migrate(
      Self.store(old, in: other), to: new, Self.policies, userInfo: "{ modelVersion: 1 }",
      policies: bindings)
    #expect(plain.contains("Template/p1 name=∅ orderInList=0 questions→[]"))
    #expect(!plain.contains { $0.hasPrefix("TemplateQuestion") })
  }

  @Test("without its policies the mapping is refused: 134170, with the class that is missing")
  func missing() throws {
    let folder = try TemporaryFolder()
    let (old, new) = try Self.models()
    let path = try Self.store(old, in: folder)
    let error = #expect(throws: CoreDataError.self) {
      try Classics.plan(path, to: new, Self.policies)
    }
    #expect(error?.code == 134170 && error?.kind == .refused)
    #expect(error?.message.contains("Diary.QuestionsToTemplate") == true)
  }

  @Test("the article's code is what these tests run")
  func article() throws {
    let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4)
      .joined(separator: "/")
    func text(_ path: String) throws -> String {
      String(decoding: try FileSystem.read(root + "/" + path), as: UTF8.self)
    }
    let code = try text("Tests/MigrationTests/Classics/ArticlePolicies.swift")
    let article = try text("Sources/Work/Migration/Migration.docc/CustomMigrations.md")
    let blocks = article.components(between: "```swift\n", and: "```")
    let policies = blocks.filter { $0.contains("EntityMigrationPolicy {") }
    #expect(policies.count == 4)
    for block in policies { #expect(code.contains(block)) }
    let names = article.components(between: "```json5\n", and: "```")
    #expect(names.count == 1)
    #expect(throws: Never.self) {
      try names.map { try Recipe(text: $0, path: "article.json5") }
    }
  }
}

extension String {
  /// What stands between each pair of marks.
  fileprivate func components(between start: String, and end: String) -> [String] {
    split(separator: start).dropFirst().compactMap {
      $0.split(separator: end, omittingEmptySubsequences: false).first.map(String.init)
    }
  }
}
