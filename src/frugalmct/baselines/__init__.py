"""What FrugalMCT is compared with: FrugalML, votes and a blind mix."""
