"""Fills an empty Tryton database with what an invoice needs; fake.go has the same codes and names.

    python3 books.py FOLDER      # holds books.sqlite and trytond.conf; called by scripts/tryton-books
"""
import datetime
import os
import sys
from decimal import Decimal

from proteus import Model, Wizard, config

PASSWORD = 'Onefold-Test-Secret-8471'  # of all users; such a database lives as long as a test
FIRST_YEAR = 2026  # of the tests' clock

cfg = config.set_trytond('sqlite:///books', config_file=os.path.join(sys.argv[1], 'trytond.conf'))

Party = Model.get('party.party')
Currency = Model.get('currency.currency')


def party(name, addresses=1):
    p = Party(name=name)
    while len(p.addresses) > addresses:
        p.addresses.pop()
    for address in p.addresses:
        address.city = 'Musterstadt'
    p.save()
    return p


def currency(name, code, rate):
    c = Currency(name=name, code=code, symbol=code, digits=2, rounding=Decimal('0.01'))
    c.rates.new(date=datetime.date(2000, 1, 1), rate=Decimal(rate))
    c.save()
    return c


euro = currency('Euro', 'EUR', '1')
currency('Dollar', 'USD', '1.25')

wizard = Wizard('company.company.config')
wizard.execute('company')
wizard.form.party = party('Acme Books GmbH')
wizard.form.currency = euro
wizard.execute('add')
User = Model.get('res.user')
cfg._context = User.get_preferences(True, {})
company, = Model.get('company.company').find()

# The chart of accounts that comes with Tryton.
Account = Model.get('account.account')
root, = Model.get('ir.model.data').find([
    ('module', '=', 'account'), ('fs_id', '=', 'account_template_root_en')])
wizard = Wizard('account.create_chart')
wizard.execute('account')
wizard.form.account_template = Model.get('account.account.template')(root.db_id)
wizard.form.company = company
wizard.execute('create_account')
wizard.form.account_receivable, = Account.find([('type.receivable', '=', True)], limit=1)
wizard.form.account_payable, = Account.find([('type.payable', '=', True)], limit=1)
wizard.execute('create_properties')
revenue, = Account.find([('type.revenue', '=', True)], limit=1)
revenue.code = '8400'
revenue.save()

Sequence, SequenceStrict = Model.get('ir.sequence'), Model.get('ir.sequence.strict')
SequenceType = Model.get('ir.sequence.type')
of_moves, = SequenceType.find([('name', '=', 'Account Move')])
of_invoices, = SequenceType.find([('name', '=', 'Invoice')])
FiscalYear = Model.get('account.fiscalyear')
for year in range(FIRST_YEAR, datetime.date.today().year + 2):
    moves = Sequence(name=str(year), sequence_type=of_moves, company=company)
    moves.save()
    invoices = SequenceStrict(name=str(year), sequence_type=of_invoices, company=company, prefix='%s-' % year)
    invoices.save()
    fiscalyear = FiscalYear(name=str(year), company=company, post_move_sequence=moves,
        start_date=datetime.date(year, 1, 1), end_date=datetime.date(year, 12, 31))
    of_year, = fiscalyear.invoice_sequences
    for kind in ('out_invoice', 'in_invoice', 'out_credit_note', 'in_credit_note'):
        setattr(of_year, kind + '_sequence', invoices)
    fiscalyear.click('create_period')

tax_account, = Account.find([('name', '=', 'Main Tax')])
tax = Model.get('account.tax')(name='VAT 20', description='VAT 20', type='percentage', rate=Decimal('.20'),
    invoice_account=tax_account, credit_note_account=tax_account)
tax.save()
term = Model.get('account.invoice.payment_term')(name='On the date')
term.lines.new(type='remainder')
term.save()

# Tryton numbers them: their codes are 2, 3 and 4.
party('Straße Müller GmbH')
party('Nobody Ltd')
party('No Address Inc', addresses=0)


def user(login, companies):
    u = User(name=login, login=login, password=PASSWORD)
    u.groups.extend(Model.get('res.group').find([('name', '=', 'Account')]))
    u.company = None  # a new user gets the company of whoever makes it
    while u.companies:
        u.companies.pop()
    u.companies.extend(companies)
    u.save()
    if companies:
        u.company = companies[0]
        u.save()


user('onefold', [company])  # as an admin should make it for us
user('stranger', [])  # may log in and sees no company
